/**
 * The store of a command that needs no server.
 *
 * It may be opened in the background, while the command computes; what it can't take costs no verdict.
 */
import { refuseFiles, type FabricDocument } from '../documents/fabric-document.js';
import { loadFabric, type Loaded } from '../documents/load.js';
import type { Store } from '../store/open-store.js';
import type { FinishedRun } from '../store/runs/finished-run.js';
import type { Config } from '../system/config/config.js';

export class CommandStore {
  private opening: Promise<Store> | undefined;

  constructor(private readonly config: Config) {}

  /** Begins to open it, for somebody who will need it. */
  open(): void {
    // who asks for something is told why there is nothing
    this.sql().catch(() => undefined);
  }

  /** @throws EnvironmentError when it can't be had */
  sql(): Promise<Store> {
    return (this.opening ??= opened(this.config));
  }

  /** Resolves when it is durable. */
  async keep(run: FinishedRun): Promise<void> {
    const [store, { storeFinishedRun }] = [await this.sql(), await import('../store/runs/finished-run.js')];
    await store.transaction((sql) => storeFinishedRun(sql, run));
  }

  /** A stored fabric's document, or the names of those that are stored. */
  async fabric(name: string): Promise<Loaded<FabricDocument> | string[]> {
    const store = await this.sql();
    const [found] = await store.query<{ definition: unknown }[]>(
      'SELECT definition FROM fabrics WHERE name = $1',
      [name],
    );
    if (found !== undefined) return loadFabric(found.definition, refuseFiles);
    return (await store.query<{ name: string }[]>('SELECT name FROM fabrics')).map((one) => one.name).sort();
  }

  async close(): Promise<void> {
    const store = await this.opening?.catch(() => undefined);
    await store?.close();
  }
}

/** Does something with the store, and closes it. */
export async function withStore<T>(config: Config, work: (store: CommandStore) => Promise<T>): Promise<T> {
  const store = new CommandStore(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function opened(config: Config): Promise<Store> {
  // it takes a moment to load, which is spent beside what the command computes
  const { openStore } = await import('../store/open-store.js');
  return openStore(config);
}
