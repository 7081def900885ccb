/**
 * The database as a Nest module: `DataSource` for services, closed when the application shuts down.
 *
 * Nest runs the shutdown hooks of modules after its HTTP server has closed; whatever must go before the connections
 * registers itself with `Database.beforeClose`, which does not depend on the order of modules.
 */
import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Config } from '../config/config.js';
import { type Database, openDatabase, type Schema } from './database.js';

/** Injection token of the `Database`. */
export const DATABASE = Symbol('fabricdrill database');

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Opens the configured database when the application is created. */
  static forRoot(config: Config, schema: Schema): DynamicModule {
    return DatabaseModule.providing(() => openDatabase(config, schema));
  }

  /**
   * Uses a database that is open already, for an entry point that must close it even if the application never
   * comes up (an embedded server would stay behind otherwise).
   */
  static forDatabase(database: Database): DynamicModule {
    return DatabaseModule.providing(() => Promise.resolve(database));
  }

  private static providing(open: () => Promise<Database>): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DATABASE, useFactory: open },
        { provide: DataSource, useFactory: (database: Database) => database.dataSource, inject: [DATABASE] },
      ],
      exports: [DATABASE, DataSource],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
