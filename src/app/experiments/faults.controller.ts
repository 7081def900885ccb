/** `/v1/faults`: the fault catalogue, from the fault kinds themselves. */
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { FAULT_KINDS, faultKindNames, type AnyFaultKind } from '../../faults/catalog.js';
import { inputJsonSchema } from '../../core/schema-issues.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { NotFoundError } from '../../system/errors.js';

function faultView(kind: AnyFaultKind): Record<string, unknown> {
  return {
    name: kind.name,
    summary: kind.summary,
    parameters: inputJsonSchema(kind.parameters),
    limits: kind.limits,
    symptoms: kind.allSymptoms(),
    example: kind.example,
  };
}

@ApiTags('faults')
@Controller('v1/faults')
export class FaultsController {
  @Get()
  @ApiOperation({ summary: 'fault kinds' })
  list() {
    return { data: FAULT_KINDS.map(({ name, summary }) => ({ name, summary })) };
  }

  @Get(':kind')
  @ApiOperation({ summary: 'one fault kind: parameters, limits, symptoms, an example' })
  show(@Param('kind') name: string) {
    const kind = FAULT_KINDS.find((candidate) => candidate.name === name);
    if (kind === undefined) {
      const names = faultKindNames();
      throw new NotFoundError(
        `there is no fault kind "${name}"; the kinds are ${listChoices(names)}`,
        nearestHint(name, names),
      );
    }
    return faultView(kind);
  }
}
