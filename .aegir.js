/** @type {import('aegir').PartialOptions} */
export default {
  build: {
    config: {
      platform: 'node'
    },
    bundlesizeMax: '40KB'
  }
}
