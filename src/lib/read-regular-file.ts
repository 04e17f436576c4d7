import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const FIRST_BYTES = 64 * 1024;

/**
 * Reads a file that anyone may have put there. A pipe nobody writes to would be waited for for ever, and a device may never
 * end: what is no regular file is refused (`EINVAL`, a folder with `EISDIR`), as is one longer than `maxBytes` (`EFBIG`),
 * which is not read to find out.
 * @throws an `ErrnoException`
 */
export async function readRegularFile(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw refusal(file, 'EISDIR', 'it is a folder');
    if (!found.isFile()) throw refusal(file, 'EINVAL', 'it is not a regular file');
    if (found.size > maxBytes) throw refusal(file, 'EFBIG', `it is longer than ${maxBytes} bytes`);
    return await readToEnd(handle, file, found.size, maxBytes);
  } finally {
    await handle.close();
  }
}

/** The size is only a hint: files of `/proc` say 0, and others grow. */
async function readToEnd(handle: FileHandle, file: string, size: number, maxBytes: number): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(size === 0 ? FIRST_BYTES : size + 1);
  let length = 0;
  for (;;) {
    if (length === bytes.length) bytes = Buffer.concat([bytes], length * 2);
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, null);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > maxBytes) throw refusal(file, 'EFBIG', `it is longer than ${maxBytes} bytes`);
  }
}

function refusal(file: string, code: 'EISDIR' | 'EINVAL' | 'EFBIG', why: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${file} is not read: ${why}`), { code, syscall: 'read', path: file });
}
