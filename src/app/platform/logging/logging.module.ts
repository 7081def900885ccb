/** The logger as a Nest module. */
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { LOGGER, type Logger } from '../../../system/logger.js';

@Global()
@Module({})
export class LoggingModule {
  static forRoot(logger: Logger): DynamicModule {
    return {
      module: LoggingModule,
      providers: [{ provide: LOGGER, useValue: logger }],
      exports: [LOGGER],
    };
  }
}
