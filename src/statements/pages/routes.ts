// The console's pages of bank statements: the path of each, who may, and what answers it.
import { form, page, type Route, withParts } from '../../administrators/pages/route.ts';
import { EXPORT_FORMATS } from '../../web/row-writer.ts';
import type { StatementContext, StatementParts } from './context.ts';
import { takeNamed } from './line-for.ts';
import { linePage, takeAccept, takeApproval, takeIgnore } from './statement-line.ts';
import { STATEMENTS_PATH } from './statement-lists.ts';
import { takeParts, takeReopen } from './statement-parts.ts';
import { RULES_PATH, rulesPage, takeRuleEnd } from './statement-rules.ts';
import { takeSeveral } from './statement-several.ts';
import { statementsPage } from './statements.ts';
import { certainPage, takeCertain } from './statements-certain.ts';
import { downloadLines, exportPage } from './statements-export.ts';
import { importPage, takeFiles, takeUndo } from './statements-import.ts';
import { importingPage } from './statements-importing.ts';
import { PASTE_PATH, pastePage, takeList } from './statements-paste.ts';
import { downloadReport, REPORT_PATH, reportPage } from './statements-report.ts';
import { UNDO_PATH } from './statements-undo.ts';

const LINE = `${STATEMENTS_PATH}/lines/:line_id`;

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
  page<StatementContext>(`${STATEMENTS_PATH}/import`, 'decide', (context) => importPage(context)),
  { ...form<StatementContext>(`${STATEMENTS_PATH}/import`, 'decide', takeFiles), takesFiles: true },
  page<StatementContext>(`${STATEMENTS_PATH}/import/:import_id`, 'read', importingPage),
  form<StatementContext>(UNDO_PATH, 'decide', takeUndo, `${STATEMENTS_PATH}/import`),
  page<StatementContext>(PASTE_PATH, 'decide', (context) => pastePage(context)),
  { ...form<StatementContext>(PASTE_PATH, 'decide', takeList), takesFiles: true },
  page<StatementContext>(`${STATEMENTS_PATH}/certain`, 'decide', certainPage),
  form<StatementContext>(`${STATEMENTS_PATH}/certain`, 'decide', takeCertain),
  page<StatementContext>(`${STATEMENTS_PATH}/export`, 'read', exportPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page<StatementContext>(`${STATEMENTS_PATH}/lines.${format}`, 'read', (context) =>
      downloadLines(context, format),
    ),
    isTold: true as const,
  })),
  page<StatementContext>(REPORT_PATH, 'read', reportPage),
  ...EXPORT_FORMATS.map((format) => ({
    ...page<StatementContext>(`${REPORT_PATH}.${format}`, 'read', (context) =>
      downloadReport(context, format),
    ),
    isTold: true as const,
  })),
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
