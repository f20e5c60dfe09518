import { readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { packageRoot } from '../lab/script-path.ts'

const root = packageRoot()
const SRC = path.join(root, 'src')

/** The page that `npm run api` writes, and that a test compares */
export const REPORT = path.join(root, 'test/api/REPORT.md')

const { exports, name: PACKAGE }: { exports: Record<string, { default: string }>, name: string } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

/** By the name that users import: its source */
const ENTRIES = Object.fromEntries(Object.entries(exports).map(([entry, { default: file }]) => [
  `${PACKAGE}${entry.slice(1)}`,
  path.join(root, file.replace('/dist/', '/').replace(/\.js$/, '.ts'))
]))

/**
 * All that somebody can rely on: the declarations of every export and of our own types that they name, without comments.
 * A change of the page in a review is a change of the public surface.
 */
export function apiReport (): string {
  const program = ts.createProgram(Object.values(ENTRIES), options())
  const checker = program.getTypeChecker()
  const sections = Object.entries(ENTRIES).map(([name, entry]) => {
    const file = program.getSourceFile(entry)
    const module = file == null ? undefined : checker.getSymbolAtLocation(file)

    if (module == null) {
      throw new Error(`${entry} exports nothing`)
    }

    const exports = new Map(checker.getExportsOfModule(module).map(symbol => [declared(symbol, checker), symbol.name]))
    const all = closure([...exports.keys()], checker)
    const named = [...all].filter(symbol => !exports.has(symbol))

    return [
      `## ${name}`,
      block([...exports].sort(([, a], [, b]) => compare(a, b)).map(([symbol, name]) => [symbol, name]), checker),
      ...named.length === 0 ? [] : ['Named by these, and not exported:', block(named.sort((a, b) => compare(a.name, b.name)).map(symbol => [symbol, symbol.name]), checker)]
    ].join('\n\n')
  })

  return [
    '# The public surface',
    'Written by `npm run api` from the sources; do not edit. `npm test` fails where it differs, so that a review sees each change of what users rely on.',
    ...sections
  ].join('\n\n') + '\n'
}

function options (): ts.CompilerOptions {
  const file = path.join(root, 'tsconfig.json')
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, ts.sys, root)

  return { ...options, noEmit: true }
}

function block (symbols: Array<[ts.Symbol, string]>, checker: ts.TypeChecker): string {
  return ['```ts', symbols.map(([symbol, name]) => declarationOf(symbol, name, checker)).join('\n\n'), '```'].join('\n')
}

/** Of what an `export { x } from` stands for */
function declared (symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

/** The symbols and all of ours that their declarations name */
function closure (symbols: ts.Symbol[], checker: ts.TypeChecker): Set<ts.Symbol> {
  const found = new Set<ts.Symbol>(symbols)

  for (const symbol of found) {
    symbol.declarations?.filter(isOurs).forEach(declaration => { visit(declaration) })
  }

  function visit (node: ts.Node): void {
    if (ts.isBlock(node) || isHidden(node)) {
      return
    }

    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const symbol = checker.getSymbolAtLocation(ts.isTypeReferenceNode(node) ? node.typeName : node.expression)
      const target = symbol == null ? undefined : declared(symbol, checker)

      if (target?.declarations?.some(declaration => isOurs(declaration) && !ts.isTypeParameterDeclaration(declaration)) === true) {
        found.add(target)
      }
    }

    ts.forEachChild(node, visit)
  }

  return found
}

function isOurs (node: ts.Node): boolean {
  return node.getSourceFile().fileName.startsWith(SRC)
}

/** What nobody outside can name */
function isHidden (node: ts.Node): boolean {
  return ts.isClassElement(node) && ((node.name != null && ts.isPrivateIdentifier(node.name)) || (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0)
}

function declarationOf (symbol: ts.Symbol, name: string, checker: ts.TypeChecker): string {
  const [declaration] = symbol.declarations ?? []

  if (declaration == null || !isOurs(declaration)) {
    return `export { ${name} } // of ${declaration == null ? 'nowhere' : declaration.getSourceFile().fileName.replace(/^.*node_modules\//, '').replace(/\/(dist|src)\/.*/, '')}`
  }

  return (symbol.declarations ?? []).map(node => {
    if (ts.isClassDeclaration(node)) {
      return classOf(node, name, checker)
    }

    if (ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node)) {
      const kind = ts.isFunctionDeclaration(node) ? 'function' : 'const'

      return `${kind} ${name}: ${checker.typeToString(checker.getTypeOfSymbolAtLocation(symbol, node), node, FORMAT)}`
    }

    return print(node)
  }).join('\n')
}

const FORMAT = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.WriteArrowStyleSignature

/** Its members without their code */
function classOf (node: ts.ClassDeclaration, name: string, checker: ts.TypeChecker): string {
  const heritage = (node.heritageClauses ?? []).map(clause => ` ${print(clause).trim()}`).join('')
  const members = node.members.filter(member => !isHidden(member)).map(member => {
    const isStatic = (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static) !== 0
    const symbol = member.name == null ? undefined : checker.getSymbolAtLocation(member.name)

    if (ts.isConstructorDeclaration(member)) {
      return `  constructor (${member.parameters.map(print).join(', ')})`
    }

    return `  ${isStatic ? 'static ' : ''}${member.name?.getText() ?? ''}: ${symbol == null ? 'unknown' : checker.typeToString(checker.getTypeOfSymbolAtLocation(symbol, member), member, FORMAT)}`
  })

  return `class ${name}${heritage} {\n${members.join('\n')}\n}`
}

const printer = ts.createPrinter({ removeComments: true })

function print (node: ts.Node): string {
  return printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()).replaceAll(/^( {4})+/gm, spaces => spaces.slice(spaces.length / 2))
}

function compare (a: string, b: string): number {
  return a < b ? -1 : 1
}
