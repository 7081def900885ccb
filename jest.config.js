import { availableParallelism } from 'node:os';

export default {
  // jest leaves a core free by default, which on two cores would mean one test file at a time
  maxWorkers: Math.max(2, availableParallelism() - 1),
  // a limit for what hangs, not for what is slow beside other work
  testTimeout: 60_000,
  testEnvironment: 'node',
  // one seed for all property tests; FABRICDRILL_PROPERTY_SEED chooses another
  setupFilesAfterEnv: ['<rootDir>/test/support/property-seed.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  testRegex: '(src|test|bench|migrations)/.*\\.(spec|e2e-spec)\\.ts$',
  moduleFileExtensions: ['ts', 'js', 'json'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
};
