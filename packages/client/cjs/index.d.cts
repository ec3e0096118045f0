// The types for `require`.
export * from '../dist/index.js';
