/** The fabric that predicts: the one that was named, or the simulated twin of the real fabric, as its driver derives it. */
import { refuseFiles, type FabricDocument } from '../../../documents/fabric-document.js';
import { loadFabric, type Loaded } from '../../../documents/load.js';
import { fabricDriver } from '../../../drivers/catalog.js';
import { InputError } from '../../../core/problem.js';

const SUFFIX = '-twin';
/** Names are DNS labels. */
const LONGEST_NAME = 63;

/**
 * @param named what predicts; derived from the real fabric when left out
 * @throws InputError when the driver has no twin, or the named fabric is not simulated
 */
export function predictingFabric(
  real: Loaded<FabricDocument>,
  named: Loaded<FabricDocument> | undefined,
): Loaded<FabricDocument> {
  if (named === undefined) return derivedTwin(real);
  const { metadata, spec } = named.value;
  if (spec.driver === 'simulated') return named;
  throw InputError.at(
    '--twin',
    `"${metadata.name}" is not simulated (driver ${spec.driver})`,
    'a prediction is made by a simulation',
  );
}

/**
 * @param derived nobody named what predicts
 * @throws InputError where nothing could be measured on a fabric, or nothing predicts it
 */
export function requireComparable(
  { value: { metadata, spec } }: Loaded<FabricDocument>,
  derived: boolean,
): void {
  const driver = fabricDriver(spec.driver);
  if (spec.driver === 'simulated' && derived) {
    throw InputError.at(
      '--fabric',
      `"${metadata.name}" is simulated: it would be compared with itself`,
      'name a real fabric, or another simulated one with --twin',
    );
  }
  if (driver.watchOnly === true) {
    throw InputError.at(
      '--fabric',
      `"${metadata.name}" can only be watched (driver ${spec.driver}): nothing can be injected into it`,
      'name a fabric that can be drilled',
    );
  }
  if (derived && driver.twin === undefined) {
    throw InputError.at(
      '--fabric',
      `fabrics of the driver ${spec.driver} have no simulated twin`,
      'name one with --twin',
    );
  }
}

function derivedTwin(real: Loaded<FabricDocument>): Loaded<FabricDocument> {
  requireComparable(real, true);
  const { metadata, spec } = real.value;
  const document = real.source as Record<string, unknown> & { spec: Record<string, unknown> };
  const twin = fabricDriver(spec.driver).twin!({ name: metadata.name, spec }, document.spec);
  const name = `${metadata.name.slice(0, LONGEST_NAME - SUFFIX.length)}${SUFFIX}`;
  return loadFabric({ ...document, metadata: { name }, spec: twin }, refuseFiles);
}
