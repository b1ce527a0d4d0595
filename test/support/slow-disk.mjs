import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/*
 * A disk for a process that loads this first. Each sync takes `DISK_MS` and writes a line when it ends. It fails when the file
 * `DISK_FAILS` exists.
 */

const { fdatasync } = fs;
fs.fdatasync = (file, callback) => {
  if (fs.existsSync(process.env.DISK_FAILS ?? "")) {
    callback(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
    return;
  }
  setTimeout(() => {
    fdatasync(file, (error) => {
      fs.writeSync(1, "synced\n");
      callback(error);
    });
  }, Number(process.env.DISK_MS));
};
syncBuiltinESMExports();
