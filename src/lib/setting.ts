// What the settings of the configuration are made of: a schema, what it means, and what is checked.
import { z } from 'zod';
import { textFault } from './text.ts';

/** A setting as docs/configuration.md tells it. `check`: what a value must be, where the schema alone does not say it. */
export const setting = <S extends z.ZodType>(schema: S, meaning: string, check?: string): S =>
  check === undefined ? schema.describe(meaning) : schema.describe(meaning).meta({ check });

export const givenText = z.string().min(1);
export const wholeNumber = (least: number, most = 1_000_000) => z.int().min(least).max(most);

/** For `superRefine`: refuses a text that `faultOf` finds something wrong with. */
export const without =
  (faultOf: (text: string) => string | undefined) =>
  (text: string, context: z.core.$RefinementCtx<string>): void => {
    const fault = faultOf(text);
    if (fault) context.addIssue(fault);
  };

/** A text of at most `maximum` characters, none of them a control character. */
export const shortText = (maximum: number, multiline = false) =>
  givenText.superRefine(without((value) => textFault(value, maximum, multiline)));
