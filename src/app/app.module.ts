/**
 * The program as one Nest application: API, worker, or both in one process, on one database and one queue.
 *
 * What the entry points share and nothing more. The database is opened first and closed last, whatever fails in
 * between, so that an embedded server never stays behind.
 */
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { readServerSettings } from '../documents/server-settings.js';
import { useServerSettings } from '../drivers/catalog.js';
import { MIGRATIONS } from '../../migrations/index.js';
import { ExperimentEntity } from '../store/documents/experiment.entity.js';
import { SchemasController } from './experiments/schemas.controller.js';
import { DRILLS_HERE } from './fabrics/labs.service.js';
import { FabricEntity } from '../store/documents/fabric.entity.js';
import type { GateWorkerSettings } from './gates/gate-worker.js';
import { GAME_DAY_ENTITIES } from './game-days/game-day.entity.js';
import { GameDaysModule } from './game-days/game-days.module.js';
import { GATE_ENTITIES } from './gates/gate.entity.js';
import { GatesApiModule, GatesWorkerModule } from './gates/gates.module.js';
import { EnvironmentError } from '../core/problem.js';
import { describeApi } from './openapi.js';
import { AuthModule } from './platform/auth/auth.module.js';
import { continueWithToken, tokenFirst } from './platform/auth/token-first.js';
import { CONFIG, type Config } from '../system/config/config.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { openDatabase, type Database } from '../store/database/database.js';
import { HealthModule } from './platform/health/health.module.js';
import {
  ARROW_PATH,
  ARROW_TYPES,
  JSON_TYPES,
  refuseOtherMedia,
  YAML_TYPES,
} from './platform/http/media-types.js';
import { attachRawJson, keepRawJson } from './platform/http/raw-json.js';
import { createLogger, type Logger as PinoLogger } from '../system/logger.js';
import { NestLogger } from './platform/logging/nest-logger.js';
import { LoggingModule } from './platform/logging/logging.module.js';
import { ProblemFilter } from './platform/problem/problem.filter.js';
import { QueueModule } from './platform/queue/queue.module.js';
import type { ExecutorSettings } from './runs/run-executor.js';
import { RUN_ENTITIES } from '../store/runs/run.entity.js';
import { RunsApiModule, RunsWorkerModule } from './runs/runs.module.js';
import { SCHEDULE_ENTITIES } from './schedules/schedule.entity.js';
import { SchedulesModule } from './schedules/schedules.module.js';

export interface AppParts {
  /** Serve REST. */
  api: boolean;
  /** Take runs from the queue; settings replace the defaults. */
  worker: boolean | Partial<ExecutorSettings>;
  /** Replaces settings of a worker's gates. */
  gates?: Partial<GateWorkerSettings>;
  /** Start what is scheduled; an API does unless this is false. */
  schedules?: boolean;
}

export interface RunningApp {
  /** Base URL of the API without a trailing slash; undefined for a worker alone. */
  url?: string;
  close(): Promise<void>;
}

const SCHEMA = {
  entities: [
    FabricEntity,
    ExperimentEntity,
    ...RUN_ENTITIES,
    ...SCHEDULE_ENTITIES,
    ...GAME_DAY_ENTITIES,
    ...GATE_ENTITIES,
  ],
  migrations: MIGRATIONS,
};
const MOST_BODY = '20mb';
const MOST_EVIDENCE = '512mb';

@Module({})
export class AppModule {
  static forRoot(config: Config, database: Database, log: PinoLogger, parts: AppParts): DynamicModule {
    return {
      module: AppModule,
      global: true,
      imports: [
        LoggingModule.forRoot(log),
        DatabaseModule.forDatabase(database),
        QueueModule.forRoot(config),
        AuthModule.forRoot(config),
        HealthModule,
        ...(parts.api
          ? [RunsApiModule, GatesApiModule, GameDaysModule, SchedulesModule.forRoot(parts.schedules ?? true)]
          : []),
        ...(parts.worker === false
          ? []
          : [workerModule(parts.worker), GatesWorkerModule.forRoot(parts.gates)]),
      ],
      controllers: parts.api ? [SchemasController] : [],
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: DRILLS_HERE, useValue: parts.worker !== false },
      ],
      exports: [CONFIG, DRILLS_HERE],
    };
  }
}

const workerModule = (settings: true | Partial<ExecutorSettings>): DynamicModule =>
  RunsWorkerModule.forRoot(settings === true ? {} : settings);

/**
 * Starts the parts asked for.
 * @throws EnvironmentError when the database can't be had or the port is taken
 */
export async function startApp(config: Config, parts: AppParts): Promise<RunningApp> {
  useServerSettings(readServerSettings(config.settingsFile));
  const log = createLogger(config);
  const database = await openDatabase(config, SCHEMA, (error) => log.warn(`database: ${error.message}`));
  try {
    const app = await NestFactory.create<NestExpressApplication>(
      AppModule.forRoot(config, database, log, parts),
      {
        logger: new NestLogger(log),
        bodyParser: false,
        abortOnError: false,
        // Whoever follows a run that goes on elsewhere must not keep this process from leaving.
        forceCloseConnections: true,
      },
    );
    const initialised = holdRequests(app);
    prepare(app, parts, config);
    if (!parts.api) {
      await app.init();
      return { close: () => app.close() };
    }
    const url = await listen(app, config, initialised);
    log.info({ url }, 'listening');
    return { url, close: () => app.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Requests that come before there are routes wait for these. @returns to be called when there are */
function holdRequests(app: NestExpressApplication): () => void {
  let release!: () => void;
  const initialised = new Promise<void>((resolve) => (release = resolve));
  app.use(
    (_request: Request, _response: Response, next: NextFunction) => void initialised.then(() => next()),
  );
  return release;
}

function prepare(app: NestExpressApplication, parts: AppParts, { token }: Config): void {
  app.use(helmet());
  const readers = express.Router();
  readers.use(refuseOtherMedia);
  readers.use(express.json({ limit: MOST_BODY, type: JSON_TYPES, verify: keepRawJson }));
  readers.use(attachRawJson);
  readers.use(express.text({ limit: MOST_BODY, type: YAML_TYPES }));
  readers.use(ARROW_PATH, express.raw({ limit: MOST_EVIDENCE, type: ARROW_TYPES }));
  app.use(tokenFirst(token, readers));
  continueWithToken(app.getHttpServer() as Server, token);
  app.useGlobalFilters(new ProblemFilter());
  if (parts.api) describeApi(app);
}

/** The port comes first: whoever can't have it must not have begun with the work of others. */
async function listen(app: NestExpressApplication, config: Config, initialised: () => void): Promise<string> {
  const server = app.getHttpServer() as Server;
  try {
    server.listen(config.port, config.host);
    await once(server, 'listening');
    await app.init();
    initialised();
  } catch (error) {
    await app.close();
    throw listenError(error, config);
  }
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function listenError(error: unknown, { host, port }: Config): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return new EnvironmentError(
      `port ${port} on ${host} is taken by another program`,
      'choose another with --port or FABRICDRILL_PORT; --port 0 takes any free one',
    );
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
    return new EnvironmentError(
      `can't listen on ${host} port ${port} (${code})`,
      'set FABRICDRILL_HOST to an address of this machine and FABRICDRILL_PORT to a port above 1023',
    );
  }
  return error;
}
