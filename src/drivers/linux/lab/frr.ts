/**
 * FRR's configuration of one switch: eBGP over unnumbered links, ECMP over all of them, BFD if the fabric has it.
 *
 * Each daemon reads a file of its own, since it refuses the blocks of the others. `no zebra nexthop kernel enable` is the
 * cure for next-hop groups that never get a member back after a flap (FRR 8.4, issue 12239); a fabric with
 * `staleNextHops` leaves it out and runs FRR as it ships. Syntax: FRR 8.4 manual, chapters Zebra, BGP and BFD.
 */
import type { Lab } from './lab.js';
import type { LabNode } from './parts.js';

/** Daemons of a switch in the order of their start, with their configurations. */
export function frrConfigurations(lab: Lab, node: LabNode): { daemon: string; text: string }[] {
  const files = [
    { daemon: 'zebra', text: zebra(lab, node) },
    { daemon: 'bgpd', text: bgp(lab, node) },
  ];
  return lab.settings.bfd ? [...files, { daemon: 'bfdd', text: bfd(lab, node) }] : files;
}

const uplinks = (lab: Lab, node: LabNode): string[] =>
  lab
    .portsOf(node)
    .filter((port) => lab.peerOf(port).node.role === 'switch')
    .map((port) => port.interface);

const head = (node: LabNode, daemon: string): string[] => [
  `hostname ${node.name}`,
  `log file ${node.folder}/${daemon}.log`,
];

const lines = (parts: readonly string[]): string => `${parts.join('\n')}\n`;

function zebra(lab: Lab, node: LabNode): string {
  return lines([
    ...head(node, 'zebra'),
    ...(lab.settings.staleNextHops ? [] : ['no zebra nexthop kernel enable']),
    ...uplinks(lab, node).flatMap((name) => [
      `interface ${name}`,
      ' no ipv6 nd suppress-ra',
      ' ipv6 nd ra-interval 1',
    ]),
  ]);
}

function bgp(lab: Lab, node: LabNode): string {
  const { settings } = lab;
  const holdS = Math.max(3, Math.round(settings.bgpHold / 1e9));
  const retryS = Math.max(1, Math.round(lab.lab.bgpConnectRetry / 1e9));
  return lines([
    ...head(node, 'bgpd'),
    'frr defaults datacenter',
    'ip prefix-list HOSTS seq 5 permit 10.0.0.0/9 ge 31',
    'ip prefix-list HOSTS seq 10 permit 10.254.0.0/16 le 32',
    'route-map HOSTS permit 10',
    ' match ip address prefix-list HOSTS',
    '!',
    `router bgp ${node.autonomousSystem}`,
    ` bgp router-id ${node.loopback}`,
    ' bgp bestpath as-path multipath-relax',
    ' no bgp ebgp-requires-policy',
    ' no bgp default ipv4-unicast',
    ' neighbor FABRIC peer-group',
    ' neighbor FABRIC remote-as external',
    ' neighbor FABRIC advertisement-interval 0',
    ` neighbor FABRIC timers ${Math.max(1, Math.floor(holdS / 3))} ${holdS}`,
    ` neighbor FABRIC timers connect ${retryS}`,
    ...(settings.bfd ? [' neighbor FABRIC bfd profile fabric'] : []),
    ...uplinks(lab, node).map((name) => ` neighbor ${name} interface peer-group FABRIC`),
    ' address-family ipv4 unicast',
    '  redistribute connected route-map HOSTS',
    '  neighbor FABRIC activate',
    '  maximum-paths 64',
  ]);
}

function bfd({ settings }: Lab, node: LabNode): string {
  const intervalMs = Math.max(10, Math.round(settings.bfdInterval / 1e6));
  return lines([
    ...head(node, 'bfdd'),
    'bfd',
    ' profile fabric',
    `  detect-multiplier ${Math.max(2, settings.bfdMultiplier)}`,
    `  receive-interval ${intervalMs}`,
    `  transmit-interval ${intervalMs}`,
  ]);
}
