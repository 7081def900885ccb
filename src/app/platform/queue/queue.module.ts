/**
 * The queues as a Nest module. They close with the database, before it: see `Database.beforeClose`.
 */
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Config } from '../../../system/config/config.js';
import type { Database } from '../../../store/database/database.js';
import { DATABASE } from '../database/database.module.js';
import { LOGGER, type Logger } from '../../../system/logger.js';
import { GATE_QUEUE, gateQueue } from './gate-queue.js';
import { openRunQueue, RUN_QUEUE } from './run-queue.js';

@Global()
@Module({})
export class QueueModule {
  /** Needs `DatabaseModule` and `LoggingModule` in the application. */
  static forRoot(config: Pick<Config, 'redisUrl'>): DynamicModule {
    return {
      module: QueueModule,
      providers: [
        {
          provide: RUN_QUEUE,
          inject: [DATABASE, LOGGER],
          useFactory: async (database: Database, logger: Logger) => {
            const queue = await openRunQueue(config, database.url, (error) =>
              logger.warn(`queue: ${error.message}`),
            );
            database.beforeClose(() => queue.close());
            return queue;
          },
        },
        {
          provide: GATE_QUEUE,
          inject: [DATABASE, LOGGER],
          useFactory: (database: Database, logger: Logger) => {
            const queue = gateQueue(config, database.url, (error) => logger.warn(`queue: ${error.message}`));
            database.beforeClose(() => queue.close());
            return queue;
          },
        },
      ],
      exports: [RUN_QUEUE, GATE_QUEUE],
    };
  }
}
