"""Backups as docs/operation.md has them: with PostgreSQL's own programs."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from tests.support.database import Postgres, execute
from tests.support.serving import ROOT, wait_until

DOCUMENT = ROOT / "docs" / "operation.md"


class Archive:
    """A folder with a server's backups and, from now on, every WAL file that it fills."""

    def __init__(self, server, folder):
        self.folder = folder
        self.wal = folder / "wal"
        self.wal.mkdir()
        server.give(folder)
        self._server = server
        for setting, value in (
            ("summarize_wal", "on"),
            ("archive_mode", "on"),
            ("archive_command", f"test ! -f {self.wal}/%%f && cp %%p {self.wal}/%%f"),
        ):
            execute(server.url("postgres"), f"ALTER SYSTEM SET {setting} = '{value}'")
        server.halt()
        server.resume()

    def back_up(self, name, *, since=None):
        """All of it, or what has changed since another backup."""
        change = () if since is None else (f"--incremental={self.folder / since}/backup_manifest",)
        self._server.run_program(
            "pg_basebackup",
            "-d",
            self._server.url("postgres"),
            "-D",
            str(self.folder / name),
            "--checkpoint=fast",
            *change,
        )

    def name_moment(self, name):
        """A moment to restore to; what is written up to it is archived."""
        url = self._server.url("postgres")
        execute(url, "SELECT pg_create_restore_point(%s)", name)
        [(file,)] = execute(url, "SELECT pg_walfile_name(pg_switch_wal())")
        wait_until(lambda: (self.wal / str(file)).exists())

    @contextmanager
    def restored(self, moment, *backups):
        """A server as of that moment, from a full backup and the incremental ones after it."""

        def fill(data):
            if data.exists():
                data.rmdir()
            with tempfile.TemporaryDirectory() as folder:
                combined = Path(folder) / "combined"
                Path(folder).chmod(0o755)
                self._server.give(Path(folder))
                self._server.run_program(
                    "pg_combinebackup",
                    "--output",
                    str(combined),
                    *(str(self.folder / name) for name in backups),
                )
                shutil.move(combined, data)
            (data / "recovery.signal").touch()
            with (data / "postgresql.auto.conf").open("a") as settings:
                settings.write(
                    f"archive_mode = off\nrestore_command = 'cp {self.wal}/%f %p'\n"
                    f"recovery_target_name = '{moment}'\nrecovery_target_action = promote\n"
                )
            (data / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
            self._server.give(data)

        with Postgres(fill=fill) as server:
            url = server.url("postgres")
            wait_until(lambda: execute(url, "SELECT pg_is_in_recovery()") == [(False,)])
            yield server
