// The console's pages of bank statements: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { EXPORT_FORMATS } from '../../web/row-writer.ts';
import { takeNamed } from './line-for.ts';
import { linePage, takeAccept, takeApproval, takeIgnore } from './statement-line.ts';
import { takeParts, takeReopen } from './statement-outcome.ts';
import { STATEMENTS_PATH, type StatementContext, type StatementParts } from './statement-page.ts';
import { RULES_PATH, rulesPage, takeRuleEnd } from './statement-rules.ts';
import { takeSeveral } from './statement-several.ts';
import { statementsPage } from './statements.ts';
import { certainPage, takeCertain } from './statements-certain.ts';
import {
  IMPORT_PATH,
  importingPage,
  importPage,
  takeFiles,
  takeUndo,
  UNDO_PATH,
} from './statements-import.ts';
import { PASTE_PATH, pastePage, takeList } from './statements-paste.ts';
import { downloadLines, downloadReport, exportPage, REPORT_PATH, reportPage } from './statements-report.ts';

const LINE = `${STATEMENTS_PATH}/lines/:line_id`;

const told = (path: string, answer: Route<StatementContext>['answer']) => ({
  ...page<StatementContext>(path, 'read', answer),
  isTold: true as const,
});

const routes: readonly Route<StatementContext>[] = [
  page<StatementContext>(STATEMENTS_PATH, 'read', (context) => statementsPage(context)),
  form<StatementContext>(
    `${STATEMENTS_PATH}/several`,
    'decide',
    (context) => takeSeveral(context, statementsPage),
    STATEMENTS_PATH,
  ),
  page<StatementContext>(RULES_PATH, 'read', rulesPage),
  form<StatementContext>(`${RULES_PATH}/:rule_id/end`, 'decide', takeRuleEnd, RULES_PATH),
  page<StatementContext>(IMPORT_PATH, 'decide', (context) => importPage(context)),
  { ...form<StatementContext>(IMPORT_PATH, 'decide', takeFiles), takesFiles: true },
  page<StatementContext>(`${IMPORT_PATH}/:import_id`, 'read', importingPage),
  form<StatementContext>(UNDO_PATH, 'decide', takeUndo, IMPORT_PATH),
  page<StatementContext>(PASTE_PATH, 'decide', (context) => pastePage(context)),
  { ...form<StatementContext>(PASTE_PATH, 'decide', takeList), takesFiles: true },
  page<StatementContext>(`${STATEMENTS_PATH}/certain`, 'decide', certainPage),
  form<StatementContext>(`${STATEMENTS_PATH}/certain`, 'decide', takeCertain),
  page<StatementContext>(`${STATEMENTS_PATH}/export`, 'read', exportPage),
  page<StatementContext>(REPORT_PATH, 'read', reportPage),
  ...EXPORT_FORMATS.flatMap((format) => [
    told(`${STATEMENTS_PATH}/lines.${format}`, (context) => downloadLines(context, format)),
    told(`${REPORT_PATH}.${format}`, (context) => downloadReport(context, format)),
  ]),
  page<StatementContext>(LINE, 'read', (context) => linePage(context)),
  form<StatementContext>(`${LINE}/accept`, 'decide', takeAccept, LINE),
  form<StatementContext>(`${LINE}/approve`, 'decide', takeApproval, LINE),
  form<StatementContext>(`${LINE}/ignore`, 'decide', takeIgnore, LINE),
  form<StatementContext>(`${LINE}/split`, 'decide', takeParts, LINE),
  form<StatementContext>(`${LINE}/for`, 'decide', (context) => takeNamed(context, linePage), LINE),
  form<StatementContext>(`${LINE}/reopen`, 'decide', takeReopen, LINE),
];

/** The routes, which are given `parts`. */
export const statementRoutes = (parts: StatementParts): Route[] => withParts(parts, routes);
