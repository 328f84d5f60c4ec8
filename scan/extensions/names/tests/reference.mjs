import {ens_normalize} from '@adraffy/ens-normalize';
import {readFileSync} from 'node:fs';
const norm = (name) => { try { return ens_normalize(name); } catch { return null; } };
console.log(JSON.stringify(JSON.parse(readFileSync(0)).map(norm)));
