import { describe, expect, it } from '@jest/globals';
import { alertLabelsSchema, claimOf } from './alert-labels.js';

const rules = alertLabelsSchema.parse([
  {
    match: { alertname: 'PortDown*', severity: 'critical' },
    kind: 'link-down',
    element: 'port:{device}/{interface}',
    side: 'cable',
    probability: 0.9,
    values: { interface: { Ethernet0: 'p1' } },
  },
  { match: { alertname: '*' }, kind: 'node-down', element: 'device:{device}' },
]);

describe('labels of alerts', () => {
  it('become a claim about an element, by the names that things have here', () => {
    const labels = {
      alertname: 'PortDownLong',
      severity: 'critical',
      device: 'leaf-3',
      interface: 'Ethernet0',
    };
    expect(claimOf(rules, labels)).toEqual({
      kind: 'link-down',
      element: { type: 'port', id: 'port:leaf-3/p1' },
      side: 'cable',
      probability: 0.9,
    });
    expect(claimOf(rules, { ...labels, interface: 'p7' })?.element.id).toBe('port:leaf-3/p7');
  });

  it('are read by the first rule that fits in all its labels', () => {
    expect(claimOf(rules, { alertname: 'PortDown', severity: 'info', device: 'leaf-3' })).toMatchObject({
      kind: 'node-down',
      element: { id: 'device:leaf-3' },
    });
  });

  it('claim nothing when a label is missing or no rule fits', () => {
    expect(claimOf(rules, { alertname: 'PortDown', severity: 'critical', device: 'leaf-3' })).toBeUndefined();
    expect(claimOf(rules, { device: 'leaf-3' })).toBeUndefined();
    expect(claimOf([], { alertname: 'PortDown' })).toBeUndefined();
  });

  it('are text and nothing more: braces, slashes and names of object members are left as they are', () => {
    const odd = { alertname: 'x', device: '{severity}/../__proto__' };
    expect(claimOf(rules, odd)?.element.id).toBe('device:{severity}/../__proto__');
    expect(claimOf(rules, { alertname: 'x', device: 'constructor' })?.element.id).toBe('device:constructor');
  });

  it.each([
    [{ match: {}, kind: 'link-down', element: 'leaf-3' }, /starts with the type of an element/],
    [{ match: { a: '[x' }, kind: 'link-down', element: 'device:a' }, /is no pattern/],
    [{ match: {}, kind: 'sad', element: 'device:a' }, /kind|Invalid option/],
  ])('rules that mean nothing are refused: %j', (rule, message) => {
    expect(() => alertLabelsSchema.parse([rule])).toThrow(message);
  });
});
