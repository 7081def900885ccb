/**
 * The database as a Nest module: `DataSource` for services, closed when the application shuts down.
 *
 * Nest runs the shutdown hooks of modules after its HTTP server has closed; whatever must go before the connections
 * registers itself with `Database.beforeClose`, which does not depend on the order of modules.
 */
import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Database } from '../../../store/database/database.js';

/** Injection token of the `Database`. */
export const DATABASE = Symbol('fabricdrill database');

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Takes a database that is open: the entry point opens it before and closes it even if the application never comes
   * up, since an embedded server would stay behind otherwise.
   */
  static forDatabase(database: Database): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DATABASE, useValue: database },
        { provide: DataSource, useValue: database.dataSource },
      ],
      exports: [DATABASE, DataSource],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
