/**
 * Names of the counters that every port of a lab has. A file of its own, since the program that reads them on a device knows
 * nothing else of labs.
 */

/** Interface names have dashes, which nft's names must not begin with and scripts trip over. */
export const counterName = (kind: 'rx' | 'damaged', interfaceName: string): string =>
  `${kind}_${interfaceName.replaceAll('-', '_')}`;
