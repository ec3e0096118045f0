// The console's pages of one's own account: the path of each, who may, and what answers it.

import {
  accountPage,
  authenticatorPage,
  codesFile,
  codesPage,
  endOthers,
  passkeysPage,
  passwordPage,
  removalPage,
  sessionsPage,
  takeAuthenticator,
  takeNewCodes,
  takeNewPassword,
  takePasskey,
  takeRemoval,
} from './account.ts';
import { secondsLeft, stayPage } from './frame.ts';
import { helpPage } from './help.ts';
import { form, page, type Route } from './route.ts';
import { signOut } from './sign-in.ts';

export const accountRoutes: readonly Route[] = [
  page('/help', 'read', helpPage),
  page('/session', 'read', stayPage),
  { ...page('/session/left', 'read', secondsLeft), isBackground: true },
  form('/sign-out', 'read', signOut, '/'),
  page('/account', 'read', accountPage),
  page('/account/password', 'read', passwordPage),
  form('/account/password', 'read', takeNewPassword),
  page('/account/authenticator', 'read', authenticatorPage),
  form('/account/authenticator', 'read', takeAuthenticator),
  page('/account/recovery-codes', 'read', codesPage),
  form('/account/recovery-codes', 'read', takeNewCodes),
  form('/account/recovery-codes/file', 'read', codesFile, '/account/recovery-codes'),
  page('/account/passkeys', 'read', passkeysPage),
  form('/account/passkeys', 'read', takePasskey),
  page('/account/passkeys/remove', 'read', removalPage),
  form('/account/passkeys/remove', 'read', takeRemoval),
  page('/account/sessions', 'read', sessionsPage),
  form('/account/sessions', 'read', endOthers),
];
