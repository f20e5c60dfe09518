/**
 * Takes the place of `noiseCrypto` where bundlers honour the `browser` field of package.json: noise takes what it has
 * itself if it is given none.
 */
export const noiseCrypto = undefined
