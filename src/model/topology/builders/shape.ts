/**
 * What all builders share: the keys for rates, delays and the inside of a host, and the hosts themselves.
 *
 * The scale-up defaults are those of an 8-GPU H100 server as public simulators describe it: 2880 Gbps a GPU and 25 ns
 * to the NVSwitch.
 */
import { z } from 'zod';
import { durationNs, rateGbps } from '../../../core/units.js';
import type { HostInterior, TopologyBuilder } from '../builder.js';

/** Schema: a whole number from `least` to `most`. */
export const count = (least: number, most: number, description: string) =>
  z.int().min(least).max(most).describe(description);

export const hostKeys = {
  gpusPerHost: count(1, 64, 'GPUs in every host').default(1),
  scaleUpRate: rateGbps
    .optional()
    .describe('rate of a GPU into the NVLink network of its host; 2880Gbps when a host has several GPUs'),
  scaleUpDelay: durationNs.prefault('50ns').describe('GPU to GPU within a host, one way'),
};

export const linkKeys = {
  hostRate: rateGbps.prefault('400Gbps').describe('rate of every NIC port'),
  fabricRate: rateGbps.prefault('400Gbps').describe('rate of every link between switches'),
  hostDelay: durationNs.prefault('500ns').describe('one-way delay of a NIC link'),
  fabricDelay: durationNs.prefault('500ns').describe('one-way delay of a link between switches'),
  portsPerSwitch: count(1, 4096, 'refuse the fabric when a switch would need more ports').optional(),
};

export interface HostShape {
  gpusPerHost: number;
  scaleUpRate?: number;
  scaleUpDelay: number;
}

export interface LinkShape {
  hostRate: number;
  fabricRate: number;
  hostDelay: number;
  fabricDelay: number;
  portsPerSwitch?: number;
}

const SCALE_UP_GBPS = 2880;

export const interiorOf = (shape: HostShape): HostInterior => ({
  gpusPerHost: shape.gpusPerHost,
  scaleUpGbps: shape.scaleUpRate ?? (shape.gpusPerHost > 1 ? SCALE_UP_GBPS : 0),
  scaleUpDelayNs: shape.scaleUpDelay,
});

/** Connects `links` parallel links between two switches at the fabric rate. */
export function connectSwitches(
  builder: TopologyBuilder,
  lower: string,
  upper: string,
  links: number,
  shape: LinkShape,
): void {
  for (let link = 0; link < links; link++) {
    builder.connect(lower, upper, { rateGbps: shape.fabricRate, delayNs: shape.fabricDelay });
  }
}

/** Connects a host port to a leaf at the host rate. */
export function connectHost(
  builder: TopologyBuilder,
  hostPort: string,
  leaf: string,
  shape: LinkShape,
): void {
  builder.connect(hostPort, leaf, { rateGbps: shape.hostRate, delayNs: shape.hostDelay });
}

/** Numbers 1 to n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);
