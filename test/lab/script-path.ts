import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The file of a script that lies beside the module with this URL: TypeScript when run from source, JavaScript when run from `dist`.
 *
 * @param moduleUrl - `import.meta.url`
 * @param name - relative and without its extension
 */
export function scriptPath (moduleUrl: string, name: string): string {
  const file = fileURLToPath(moduleUrl)

  return path.join(path.dirname(file), name + path.extname(file))
}

/** The directory that holds the project's package.json, above this in the source tree and in the built one. */
export function packageRoot (): string {
  let directory = path.dirname(fileURLToPath(import.meta.url))

  while (!existsSync(path.join(directory, 'package.json'))) {
    const parent = path.dirname(directory)

    if (parent === directory) {
      throw new Error('No package.json above this file')
    }

    directory = parent
  }

  return directory
}
