// Runs a PostgreSQL server for as long as its own standard input is open, and then removes the
// server's folder: whatever becomes of the process that asked for it, nothing is left behind.
// Arguments: the folder to remove, the user id to run as ('' for one's own), and the command.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';

const [folder, uid, command, ...args] = process.argv.slice(2);
const user = uid ? { uid: Number(uid), gid: Number(uid) } : {};
const server = spawn(command, args, { ...user, cwd: '/', stdio: ['ignore', 'inherit', 'inherit'] });

// SIGQUIT is PostgreSQL's immediate shutdown; the data is thrown away anyway.
process.stdin.resume().on('close', () => server.kill('SIGQUIT'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => server.kill('SIGQUIT'));

server.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
