import path from 'node:path'

/** @type {import('aegir').PartialOptions} */
export default {
  build: {
    config: {
      platform: 'node'
    },
    bundlesize: true,
    bundlesizeMax: '70KB'
  },
  test: {
    // aegir asks Node to transform types, and then every process that a test starts warns; stripping them is Node's default
    before: () => ({
      env: {
        NODE_OPTIONS: process.env.NODE_OPTIONS ?? '',
        // hundreds of processes start, each of which would compile a whole node
        NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/node')
      }
    })
  },
  docs: {
    // to the folder .docs only: it publishes in CI by default
    publish: false
  },
  documentCheck: {
    inputFiles: ['*.md', 'docs/*.md']
  },
  dependencyCheck: {
    developmentIgnorePatterns: [
      '/dist',
      '/src',
      // these have a package.json of their own
      '/test/ecosystem/programs'
    ],
    ignore: [
      // brings the Node that npm scripts run on
      'node',
      // the version that aegir compiles with
      'typescript',
      // what a user of the package writes imports it by its name
      'libp2p-fast-tcp'
    ],
    // the defaults, and programs in docs and examples: what they import is the reader's to install
    productionIgnorePatterns: ['/benchmark', '/benchmarks', '/dist', '/docs', '/examples', '/test', '.aegir.js']
  }
}
