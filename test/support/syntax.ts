// The syntax of source files, read by the TypeScript compiler: how long each function is and which names a file exports.
import { fileURLToPath } from 'node:url';
import {
  isFunctionLikeDeclaration,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isVariableStatement,
  ModifierFlags,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** What has a project of its own is not compiled with the rest: its dependencies are not installed here. */
const PROJECTS = ['tsconfig.json', 'packages/vendure/tsconfig.json'];
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A function with a body. `lines` counts from the line of its name to that of its closing brace. */
export interface FunctionSize {
  /** Its name or that of the constant or property it is the value of; `anonymous` where it has none. */
  name: string;
  lines: number;
}

/** Calls `use` with a function that returns the syntax of a file given by its path from the root. */
export function withSyntax<T>(use: (syntaxOf: (file: string) => SourceFile) => T): T {
  const api = new API({ cwd: root });
  try {
    const projects = api.updateSnapshot({ openProjects: PROJECTS.map((path) => root + path) }).getProjects();
    const sourceOf = (file: string) =>
      projects
        .map(({ program }) => program.getSourceFile(`${root}${file}`))
        .find((one) => one !== undefined)!;
    return use(sourceOf);
  } finally {
    api.close();
  }
}

/** Every function of a file, nested ones too. */
export function functionsOf(source: SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  const visit = (node: Node): void => {
    if (isFunctionLikeDeclaration(node) && 'body' in node && node.body) {
      const named = (node as { name?: Node }).name ?? (node.parent as { name?: Node }).name;
      const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
      const lines = lineAt(node.end) - lineAt(node.getStart(source)) + 1;
      found.push({ name: named?.getText(source) ?? 'anonymous', lines });
    }
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return found;
}

/** The tags of templates that are texts. */
const SAID = /(^|\.)say(\.html)?$/;

/**
 * How many lines are longer than `most` code points. A text on one line (a string, or a template without a tag) is not counted: the formatter
 * does not break it, and a message that stands in one piece is found by a search. The template of a tag is counted, but for `say`.
 */
export function longLines(source: SourceFile, most: number): number {
  const lengths = source.text.split('\n').map((line) => [...line].length);
  const visit = (node: Node): void => {
    const isTemplate = isTemplateExpression(node) || isNoSubstitutionTemplateLiteral(node);
    const isTagged =
      node.parent && isTaggedTemplateExpression(node.parent) && !SAID.test(node.parent.tag.getText(source));
    if (!isStringLiteral(node) && (!isTemplate || isTagged)) return void node.forEachChild(visit);
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.end).line;
    if (first === last) lengths[first]! -= [...node.getText(source)].length;
    else node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return lengths.filter((length) => length > most).length;
}

/** The names that a file declares and exports. `export { … }` is left out: here it only passes on what another file declares. */
export function exportedNames(source: SourceFile): string[] {
  return [...source.statements].flatMap((statement) => {
    const { modifierFlags } = statement as { modifierFlags?: ModifierFlags };
    if (!((modifierFlags ?? 0) & ModifierFlags.Export)) return [];
    const declarations = isVariableStatement(statement)
      ? [...statement.declarationList.declarations]
      : [statement];
    return declarations.flatMap((one) => (one as { name?: Node }).name?.getText(source) ?? []);
  });
}
