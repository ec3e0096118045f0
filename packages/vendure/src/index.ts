// What the package exports: the plugin, its handler, and the event that tells of money without a place.
export { counterfoilHandler } from './handler.ts';
export type { CounterfoilPluginOptions } from './options.ts';
export { CounterfoilPlugin } from './plugin.ts';
export { CounterfoilMoneyEvent } from './settlement.ts';
