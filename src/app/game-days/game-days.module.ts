/** Game days: REST, and the look at those under way. */
import { Module } from '@nestjs/common';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { RunsApiModule } from '../runs/runs.module.js';
import { GameDayConductor } from './game-day-conductor.js';
import { GameDayPlanner } from './game-day-planner.js';
import { GameDayReports } from './game-day-reports.js';
import { GameDaysController } from './game-days.controller.js';
import { GameDaysService } from './game-days.service.js';

@Module({
  imports: [ExperimentsModule, RunsApiModule],
  controllers: [GameDaysController],
  providers: [GameDaysService, GameDayPlanner, GameDayConductor, GameDayReports],
  exports: [GameDaysService, GameDayPlanner],
})
export class GameDaysModule {}
