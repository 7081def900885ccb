/** The bearer guard in front of every route of the application, save those marked public. */
import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { Config } from '../../../system/config/config.js';
import { AuthGuard, BEARER_TOKEN } from './auth.guard.js';

@Module({})
export class AuthModule {
  static forRoot(config: Pick<Config, 'token'>): DynamicModule {
    return {
      module: AuthModule,
      providers: [
        { provide: BEARER_TOKEN, useValue: config.token },
        { provide: APP_GUARD, useClass: AuthGuard },
      ],
    };
  }
}
