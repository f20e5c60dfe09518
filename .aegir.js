/** @type {import('aegir').PartialOptions} */
export default {
  build: {
    config: {
      platform: 'node'
    },
    bundlesizeMax: '40KB'
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
      // what a user of the package writes imports it by its name
      'libp2p-fast-tcp'
    ]
  }
}
