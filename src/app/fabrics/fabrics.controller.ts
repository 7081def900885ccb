/** `/v1/fabrics`: stored fabrics, imports, topologies. */
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { z } from 'zod';
import { nameSchema } from '../../documents/experiment.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { importedFabric } from '../../documents/imported-fabric.js';
import { loadDefinitions, loadFabric, type Loaded } from '../../documents/load.js';
import { InputError } from '../../core/problem.js';
import { parseBody } from '../platform/http/body.js';
import { definitionText } from '../platform/http/definition-body.js';
import { YAML_TYPES } from '../platform/http/media-types.js';
import { decodeCursor, pageOf, pageQuery, parseQuery, placeOf } from '../platform/http/page.js';
import { fullForm } from '../../model/topology/describe.js';
import { TOPOLOGY_FORMATS } from '../../model/topology/importers/index.js';
import { buildTopology, topologySchema, type TopologySource } from '../../model/topology/topology-spec.js';
import { wiringRemarks } from '../../model/topology/wiring.js';
import type { FabricEntity } from '../../store/documents/fabric.entity.js';
import { LabsService } from './labs.service.js';
import { FabricsService } from './fabrics.service.js';

const listQuery = z.strictObject(pageQuery);

/** A topology file of another simulator, sent as text. */
export const importSchema = z.strictObject({
  name: nameSchema,
  format: z.enum(TOPOLOGY_FORMATS),
  text: z.string().min(1).max(16_000_000),
  file: z.string().max(1000).optional().describe('the name to show in errors'),
});

function fabricView(row: FabricEntity): Record<string, unknown> {
  return {
    name: row.name,
    driver: row.driver,
    summary: row.summary,
    digest: row.digest,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

@ApiTags('fabrics')
@Controller('v1/fabrics')
export class FabricsController {
  constructor(
    private readonly fabrics: FabricsService,
    private readonly labs: LabsService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'stored fabrics, newest first' })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor } = parseQuery(listQuery, query);
    const rows = await this.fabrics.list(limit, cursor === undefined ? undefined : decodeCursor(cursor));
    const page = pageOf(response, {
      path: '/v1/fabrics',
      query: {},
      rows,
      limit,
      place: ({ createdAt, name }) => placeOf(createdAt, name),
    });
    return { data: page.map(fabricView) };
  }

  @Post()
  @ApiOperation({ summary: 'store a Fabric document' })
  @ApiConsumes('application/json', ...YAML_TYPES)
  @ApiBody({ description: 'a Fabric document', schema: { $ref: '#/components/schemas/Fabric' } })
  @ApiResponse({ status: 201, description: 'stored' })
  @ApiResponse({ status: 200, description: 'this name and content were stored already' })
  @ApiResponse({ status: 409, description: 'the name is taken by other content' })
  create(@Body() body: unknown, @Res({ passthrough: true }) response: Response) {
    return this.respond(oneFabric(body), false, response);
  }

  @Post('import')
  @ApiOperation({ summary: 'store the topology file of another simulator as a fabric' })
  @ApiBody({ schema: { $ref: '#/components/schemas/FabricImport' } })
  @ApiQuery({ name: 'replace', required: false, enum: ['true', 'false'] })
  async import(
    @Body() body: unknown,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { replace } = parseQuery(
      z.strictObject({ replace: z.enum(['true', 'false']).default('false') }),
      query,
    );
    const { document, notes } = importedFabric(parseBody(importSchema, body));
    const loaded = loadFabric(document, refuseFiles);
    const stored = await this.respond(loaded, replace === 'true', response);
    return { ...stored, notes: [...notes, ...wiringRemarks(buildTopology(loaded.value.spec.topology))] };
  }

  @Get(':name')
  @ApiOperation({ summary: 'one fabric with its definition' })
  async show(@Param('name') name: string) {
    const fabric = await this.fabrics.get(name);
    const { spec } = fabric.definition as { spec: { topology: TopologySource } };
    const remarks = wiringRemarks(buildTopology(topologySchema.parse(spec.topology)));
    return { ...fabricView(fabric), definition: fabric.definition, remarks };
  }

  @Get(':name/topology')
  @ApiOperation({ summary: 'devices, ports, links, NICs and GPUs of a fabric' })
  async topology(@Param('name') name: string) {
    const fabric = await this.fabrics.get(name);
    // whatever else a document says that this version does not take, its wiring is shown
    const { spec } = fabric.definition as { spec: { topology: TopologySource } };
    return fullForm(buildTopology(topologySchema.parse(spec.topology)));
  }

  @Post(':name/up')
  @HttpCode(202)
  @ApiOperation({
    summary: 'build the lab that a stored fabric describes, where the drills of this server run',
  })
  @ApiResponse({ status: 202, description: 'begun; GET …/lab follows it' })
  @ApiResponse({ status: 409, description: '`not-a-lab`, or something is being done to it' })
  up(@Param('name') name: string) {
    return this.labs.up(fabricName(name));
  }

  @Post(':name/down')
  @HttpCode(202)
  @ApiOperation({ summary: 'remove a lab, or end the paced simulation of a run; the definition stays' })
  @ApiResponse({ status: 202, description: 'begun; GET …/lab follows it' })
  @ApiResponse({ status: 404, description: 'there is neither' })
  down(@Param('name') name: string) {
    return this.labs.down(fabricName(name));
  }

  @Get(':name/lab')
  @ApiOperation({ summary: 'what is done to a lab, and how it ended' })
  lab(@Param('name') name: string) {
    return this.labs.state(fabricName(name));
  }

  @Put(':name')
  @ApiOperation({ summary: 'store or replace a fabric; runs keep the one they ran on' })
  @ApiConsumes('application/json', ...YAML_TYPES)
  @ApiBody({ description: 'a Fabric document', schema: { $ref: '#/components/schemas/Fabric' } })
  replace(
    @Param('name') name: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
  ) {
    const loaded = oneFabric(body);
    if (loaded.value.metadata.name !== name) {
      throw InputError.at(
        '/metadata/name',
        `the document is named "${loaded.value.metadata.name}", the address "${name}"`,
      );
    }
    return this.respond(loaded, true, response);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'delete a stored fabric; its runs stay' })
  async remove(@Param('name') name: string): Promise<void> {
    await this.fabrics.remove(name);
  }

  private async respond(loaded: Loaded<FabricDocument>, replace: boolean, response: Response) {
    const { fabric, created } = await this.fabrics.store(loaded, replace);
    response.status(created ? 201 : 200).setHeader('Location', `/v1/fabrics/${fabric.name}`);
    return fabricView(fabric);
  }
}

/** It becomes the name of a folder. @throws InputError for what no fabric can be called */
function fabricName(name: string): string {
  if (nameSchema.safeParse(name).success) return name;
  throw InputError.at('/name', `"${name}" is no name of a fabric`, 'GET /v1/fabrics lists them');
}

function oneFabric(body: unknown): Loaded<FabricDocument> {
  const { experiments, fabrics } = loadDefinitions(definitionText(body), refuseFiles);
  if (fabrics.length === 1 && experiments.length === 0) return fabrics[0];
  throw InputError.at(
    '',
    `expected one document of kind Fabric, found ${fabrics.length} and ${experiments.length} of kind Experiment`,
    'send one document a request',
  );
}
