/**
 * Lint: what types and the formatter do not see.
 *
 * The type-checked recommendations of typescript-eslint (floating promises, unsafe any, awaiting what is no promise),
 * the core rules that find bugs rather than tastes, and the house's sizes. Formatting is Prettier's business: its
 * configuration comes last and switches off every rule that would argue with it.
 */
import { defineConfig } from 'eslint/config';
import prettier from 'eslint-config-prettier/flat';
import tseslint from 'typescript-eslint';

const bugs = {
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-async-promise-executor': 'error',
  'no-compare-neg-zero': 'error',
  'no-cond-assign': ['error', 'except-parens'],
  'no-console': 'error',
  'no-constant-binary-expression': 'error',
  'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
  'no-control-regex': 'error',
  'no-empty': ['error', { allowEmptyCatch: false }],
  'no-empty-pattern': 'error',
  'no-eval': 'error',
  'no-irregular-whitespace': 'error',
  'no-loss-of-precision': 'error',
  'no-param-reassign': 'error',
  'no-self-compare': 'error',
  'no-sparse-arrays': 'error',
  'no-template-curly-in-string': 'error',
  'no-unreachable-loop': 'error',
  'no-unsafe-finally': 'error',
  'no-useless-escape': 'error',
  'use-isnan': 'error',
  'valid-typeof': 'error',
};

const types = {
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  // `catch (error) { reject(error); }` passes on whatever was thrown
  '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
  // an in-memory implementation of an asynchronous contract has nothing to await
  '@typescript-eslint/require-await': 'off',
  // `catch (error) { problem = error; } … throw problem;` passes on whatever was thrown
  '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
};

const sizes = {
  'max-lines': ['error', { max: 400 }],
  'max-lines-per-function': ['error', { max: 70, skipComments: true }],
};

export default defineConfig(
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'test/accuracy/cases/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: { ...bugs, ...types, ...sizes },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    extends: [tseslint.configs.base],
    rules: { ...bugs, ...sizes },
  },
  {
    // a suite is one function with many tests in it, and a matcher reads any JSON; the tests themselves stay short
    files: ['**/*.spec.ts', '**/*.e2e-spec.ts', 'test/**/*.ts', 'src/**/testing/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      // a suite that waits for a program says so in a line
      'no-console': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  prettier,
);
