/**
 * Faults beyond physics, or that a fabric can not show, are refused when they are planned, and the limit is named: the
 * list of issue and documentation, from the file to the message, on a simulated fabric as it is built from its document.
 */
import { describe, expect, it } from '@jest/globals';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../../../test/support/definitions.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { loadDefinitions } from '../../documents/load.js';
import { planExperiment } from '../../drill/plan/planning.js';

/** Six hosts of two GPUs and NICs of 400 Gbps, two leaves, two spines; nine seconds. */
async function refusalOf(fault: Json, settings: Json = {}): Promise<InputIssue> {
  const faults = [{ at: '3s', duration: '3s', ...fault }];
  const text = [experimentDocument('drill', 'small', { faults }), fabricDocument('small', { settings })]
    .map(yamlOf)
    .join('---\n');
  try {
    const { experiments, fabrics } = loadDefinitions(text, () => '', 'drill.yaml');
    await planExperiment({ experiment: experiments[0].value, fabric: fabrics[0].value });
  } catch (error) {
    if (error instanceof InputError) return error.issues[0];
    throw error;
  }
  throw new Error(`was planned: ${JSON.stringify(fault)}`);
}

const leaf = { type: 'device', tier: 'leaf' };
const nic = { type: 'nic', usedBy: 'exposed' };
const host = { type: 'device', tier: 'host', usedBy: 'exposed' };
const uplink = { type: 'link', tier: 'leaf-spine' };

const fault = (kind: string, params: Json, target: Json): Json => ({ kind, params, target });

describe('a fault beyond physics', () => {
  it.each<[string, Json, string, RegExp]>([
    [
      'a rate above the port’s',
      fault('speed-downgrade', { variant: 'renegotiated', rate: '800Gbps' }, uplink),
      'rate',
      /800Gbps is no downgrade of link:\S+, which runs at 400Gbps/,
    ],
    [
      'senders faster than their NICs',
      fault('incast', { variant: 'burst', senders: 3, rate: '500Gbps' }, nic),
      'rate',
      /500Gbps is more than the 400Gbps that \S+ can send/,
    ],
    [
      'an offer that the port takes',
      fault('incast', { variant: 'burst', senders: 3, rate: '1bps' }, nic),
      'rate',
      /3 senders of 1bps offer no more than the 400Gbps/,
    ],
    [
      'a bit-error ratio above one half',
      fault('optic-error', { variant: 'constant', ber: 0.51 }, uplink),
      'ber',
      /0\.5/,
    ],
    [
      'more senders than hosts',
      fault('incast', { variant: 'burst', senders: 6 }, nic),
      'senders',
      /6 senders are more than the hosts there are besides that of \S+: 5/,
    ],
    [
      'a move to a host without free GPUs',
      fault('job-migration', { variant: 'planned', to: 'host-1' }, host),
      'to',
      /host-1 .*free|free .*host-1/,
    ],
    [
      'a receiver that is as fast as its port',
      fault('slow-receiver', { variant: 'rate', rate: '400Gbps' }, nic),
      'rate',
      /400Gbps is not slow for \S+, whose ports carry 400Gbps/,
    ],
    [
      'equal hash seeds where nothing polarises',
      fault('ecmp-collision', { variant: 'polarised' }, { type: 'device', mode: 'all' }),
      '',
      /polarise nothing: this fabric has two tiers/,
    ],
  ])('%s is refused', async (_, given, parameter, message) => {
    const issue = await refusalOf(given);
    expect(issue.message).toMatch(message);
    expect(issue.pointer).toBe(
      parameter === '' ? '/spec/faults/0/target' : `/spec/faults/0/params/${parameter}`,
    );
  });

  it('is one whose trigger waits for a job that is not there', async () => {
    const trigger = { at: 'step', job: 'expsed', number: 3 };
    const given = { ...fault('link-down', { variant: 'cut' }, uplink), trigger, at: undefined };
    expect(await refusalOf(given)).toMatchObject({
      pointer: '/spec/faults/0/trigger/job',
      message: expect.stringContaining('exposed, bystander'),
      hint: 'did you mean "exposed"?',
    });
  });
});

describe('a fault of a guard that the fabric does not have', () => {
  const PFC_OFF = { pfc: { on: false } };
  const DCQCN_OFF = { dcqcn: { on: false } };

  it.each<[string, Json, Json, string, RegExp]>([
    [
      'pause-storm',
      fault('pause-storm', { variant: 'continuous' }, nic),
      PFC_OFF,
      '/kind',
      /PFC is off on this fabric/,
    ],
    [
      'pause-storm of the class of CNPs',
      fault('pause-storm', { variant: 'continuous', priority: 6 }, nic),
      {},
      '/params/priority',
      /priority 6 is no PFC class .* PFC classes are 3/,
    ],
    [
      'pfc-misconfig',
      fault('pfc-misconfig', { variant: 'off' }, leaf),
      PFC_OFF,
      '/kind',
      /PFC is off on this fabric/,
    ],
    [
      'ecn-misconfig',
      fault('ecn-misconfig', { variant: 'too-low' }, leaf),
      DCQCN_OFF,
      '/kind',
      /DCQCN is off on this fabric/,
    ],
    [
      'ecn-misconfig off where nothing is marked',
      fault('ecn-misconfig', { variant: 'off' }, leaf),
      { ecn: { pmax: 0 } },
      '/params/variant',
      /never marks as it is/,
    ],
    [
      'incast in a class without queues',
      fault('incast', { variant: 'burst', senders: 3, priority: 1 }, nic),
      {},
      '/params/priority',
      /no queue serves priority 1; the fabric's classes are 3, 6/,
    ],
  ])('%s is refused', async (_, given, settings, pointer, message) => {
    const issue = await refusalOf(given, settings);
    expect(issue.pointer).toBe(`/spec/faults/0${pointer}`);
    expect(issue.message).toMatch(message);
    expect(issue.hint).toBeTruthy();
  });

  it.each<[string, Json, Json, string, RegExp]>([
    [
      'marking later than a kmin of its own',
      fault('ecn-misconfig', { variant: 'too-high', kmin: '300kB' }, leaf),
      { ecn: { kmin: '400kB', kmax: '1600kB' } },
      'kmin',
      /kmin of 300kB is not too high .* whose kmin is 400kB/,
    ],
    [
      'marking beyond the buffer',
      fault('ecn-misconfig', { variant: 'too-high', kmin: '20MB' }, leaf),
      { buffer: '16MB' },
      'kmin',
      /20MB is more than the whole buffer of device:leaf-1 \(16MB\)/,
    ],
    [
      'headroom beyond the buffer',
      fault('pfc-misconfig', { variant: 'headroom', headroom: '20MB' }, leaf),
      { buffer: '16MB' },
      'headroom',
      /20MB is more than the whole buffer of device:leaf-1 \(16MB\)/,
    ],
    [
      'an alpha of its own',
      fault('pfc-misconfig', { variant: 'alpha', alpha: 0.25 }, leaf),
      { pfc: { freeShare: 0.25 } },
      'alpha',
      /its alpha is 0\.25/,
    ],
  ])('%s is no fault of this switch', async (_, given, settings, parameter, message) => {
    const issue = await refusalOf(given, settings);
    expect(issue.pointer).toBe(`/spec/faults/0/params/${parameter}`);
    expect(issue.message).toMatch(message);
  });
});
