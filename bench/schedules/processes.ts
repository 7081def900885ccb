/** Replicas as processes, looked after as a service manager does: one that ends while it starts is started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Replica } from './upsets.js';

export interface ReplicaProcess {
  /** Path of the compiled `replica-process`. */
  program: string;
  databaseUrl: string;
  /** Application name of its connections. */
  name: string;
  /** Told when one that was up ended by itself, which it must not, whatever happens to the database. */
  onFall: (why: string) => void;
}

/** Resolves when it is up. */
export async function startReplica(settings: ReplicaProcess): Promise<Replica> {
  let current = new Started(settings);
  await current.up;
  return {
    replace: async () => {
      await current.end();
      current = new Started(settings);
    },
    freeze: () => {
      const one = current;
      one.signal('SIGSTOP');
      return () => one.signal('SIGCONT');
    },
    stop: () => current.end(),
  };
}

class Started {
  /** It has a connection. */
  readonly up: Promise<void>;
  private child: ChildProcess;
  private isWanted = true;
  private begun = (): void => undefined;

  constructor(private readonly settings: ReplicaProcess) {
    this.up = new Promise((resolve) => (this.begun = resolve));
    this.child = this.begin();
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  end(): Promise<void> {
    this.isWanted = false;
    const { child } = this;
    return new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  }

  private begin(): ChildProcess {
    const { program, databaseUrl, name, onFall } = this.settings;
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
    const child = spawn(process.execPath, [program, databaseUrl, name], { stdio: [...stdio] });
    let isUp = false;
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.once('message', () => {
      isUp = true;
      this.begun();
    });
    child.once('exit', () => {
      if (!this.isWanted) return;
      if (isUp) onFall(`${name} ended by itself: ${said.trim()}`);
      this.child = this.begin();
    });
    return child;
  }
}
