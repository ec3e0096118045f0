// What the history says of statements and their lines, for holding their rows against it.
import { rowCheck } from '../journal/rows.ts';
import {
  type KeptLayout,
  type KeptLine,
  type KeptRule,
  type KeptStatement,
  LAYOUT_ID_PREFIX,
  LAYOUTS,
  LINE_ID_PREFIX,
  LINES,
  RULE_ID_PREFIX,
  RULES,
  STATEMENT_ID_PREFIX,
  STATEMENTS,
} from './kept.ts';

export const verifyStatements = [
  rowCheck<KeptStatement>({
    table: STATEMENTS,
    noun: 'statement',
    prefix: STATEMENT_ID_PREFIX,
    creates: ['statement.imported'],
  }),
  rowCheck<KeptLayout>({
    table: LAYOUTS,
    noun: 'CSV layout',
    prefix: LAYOUT_ID_PREFIX,
    creates: ['csv_layout.confirmed'],
  }),
  rowCheck<KeptRule>({
    table: RULES,
    noun: 'rule of statement lines',
    prefix: RULE_ID_PREFIX,
    creates: ['line_rule.made'],
    states: {
      first: 'active',
      after: new Map([
        ['line_rule.ended', 'ended'],
        ['line_rule.erased', 'ended'],
      ]),
      of: ({ state }) => state,
    },
  }),
  rowCheck<KeptLine>({
    table: LINES,
    noun: 'statement line',
    prefix: LINE_ID_PREFIX,
    creates: ['line.imported', 'line.part_added'],
    states: {
      first: 'open',
      after: new Map([
        ['line.matched', 'matched'],
        ['line.ignored', 'ignored'],
        ['line.split', 'split'],
        ['line.replaced', 'replaced'],
        ['line.undone', 'undone'],
        ['line.reopened', 'open'],
      ]),
      of: ({ state }) => state,
    },
  }),
];
