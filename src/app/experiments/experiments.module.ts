/** Definitions over REST: experiments, stored fabrics, fault kinds. */
import { Module } from '@nestjs/common';
import { FabricsController } from '../fabrics/fabrics.controller.js';
import { FabricsService } from '../fabrics/fabrics.service.js';
import { LabsService } from '../fabrics/labs.service.js';
import { ExperimentsController } from './experiments.controller.js';
import { ExperimentsService } from './experiments.service.js';
import { FaultsController } from './faults.controller.js';
import { Planning } from './planning.js';

@Module({
  controllers: [ExperimentsController, FabricsController, FaultsController],
  providers: [ExperimentsService, FabricsService, LabsService, Planning],
  exports: [ExperimentsService, FabricsService, Planning],
})
export class ExperimentsModule {}
