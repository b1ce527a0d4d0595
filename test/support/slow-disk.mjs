import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/*
 * Loaded before a process: a disk that takes `DISK_MS` for each sync and says when it ends, or that fails when the file
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
