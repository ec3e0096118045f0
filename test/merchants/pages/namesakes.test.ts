// Merchants that are called the same, in the console's list: each says so, and with which id it may be taken for another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invited, register } from '../../support/applicant.ts';
import { MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { startHarness } from '../../support/harness.ts';

test('merchants whose names look alike are marked, others are not.', async () => {
  await using harness = await startHarness('sqlite', { configuration: MANY_SIGN_INS });
  const ids: string[] = [];
  for (const business_name of ['Straße Shop', 'ＳＴＲＡＳＳＥ shop', 'Other Shop Ltd'])
    ids.push(
      (await register(harness, { business_name, email: 'a@b.example', invite: await invited(harness) })).json
        .data.merchant.id as string,
    );
  const { text } = await (await signIn(harness)).get('/merchants');
  const rowOf = (id: string) => text.split('<tr>').find((row) => row.includes(`/merchants/${id}"`))!;
  assert.match(rowOf(ids[0]!), new RegExp(`same name as <[^>]*>${ids[1]}`));
  assert.match(rowOf(ids[1]!), new RegExp(`same name as <[^>]*>${ids[0]}`));
  assert.doesNotMatch(rowOf(ids[2]!), /same name as/);
});
