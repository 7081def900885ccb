import { availableParallelism } from 'node:os';
import { ignoredBy } from './test/suites.js';

export default {
  // jest leaves a core free by default, which on two cores would mean one test file at a time
  maxWorkers: Math.max(2, availableParallelism() - 1),
  // a limit for what hangs, not for what is slow beside other work
  testTimeout: 60_000,
  testEnvironment: '<rootDir>/test/support/plain-context.js',
  // one seed for all property tests; FABRICDRILL_PROPERTY_SEED chooses another
  setupFilesAfterEnv: ['<rootDir>/test/support/property-seed.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  testRegex: '(src|test|bench|migrations)/.*\\.(spec|e2e-spec)\\.ts$',
  moduleFileExtensions: ['ts', 'js', 'json'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testPathIgnorePatterns: ['/node_modules/', ...ignoredBy(process.env.FABRICDRILL_SUITE)],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    // options: .swcrc
    '^.+\\.ts$': '@swc/jest',
  },
};
