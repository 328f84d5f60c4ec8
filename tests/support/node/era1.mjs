// Writes an era1 file with EthereumJS, or the contents of the entries that it reads in a file.
//
//     node era1.mjs write PARTS FILE     PARTS: JSON, [[hash, header, body, receipts], ...] in hex
//     node era1.mjs read FILE TYPE       TYPE: the first byte of the entries' type
import { readFileSync, writeFileSync } from 'node:fs'
import * as era from '@ethereumjs/e2store'

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'))
const [action, input, other] = process.argv.slice(2)
if (action === 'write') {
  const tuples = []
  const records = []
  for (const [hash, header, body, receipts] of JSON.parse(readFileSync(input, 'utf8'))) {
    const totalDifficulty = BigInt(records.length)
    records.push({ blockHash: bytes(hash), totalDifficulty })
    const parts = { header: bytes(header), body: bytes(body), receipts: bytes(receipts) }
    tuples.push({ ...parts, totalDifficulty })
  }
  writeFileSync(other, await era.formatEra1(tuples, records, 0))
} else {
  const file = new Uint8Array(readFileSync(input))
  const contents = []
  for (let start = 0; start < file.length; ) {
    const { type, data } = era.readEntry(file.subarray(start))
    if (type[0] === Number(other) && type[1] === 0) {
      contents.push(Buffer.from(await era.decompressData(data)).toString('hex'))
    }
    start += 8 + data.length
  }
  console.log(JSON.stringify(contents))
}
