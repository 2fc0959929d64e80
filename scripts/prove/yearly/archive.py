"""Turns the git history of the archive into captures.

Each commit `Fetched at ...` is a fetch of all hosts: a file per host in a folder per list of hosts. A
file is the body of the answer, or an object that says why there is none: a failed request, or an
answer in HTML with its status. A body that is not HTML has no status in the archive, so it counts as
an answer of 200, also where a server sent plain text with another status.
"""

import base64
import csv
import io
import json
import subprocess

REPOSITORY = "nrjones8/robots-dot-txt-archive-bot"


class Archive:
    """A clone of the archive."""

    def __init__(self, folder):
        self.folder = folder
        self.answers = {}
        self.objects = subprocess.Popen(self.command("cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def command(self, *arguments):
        return ["git", "-C", self.folder, *arguments]

    def git(self, *arguments):
        return subprocess.check_output(self.command(*arguments))

    def fetches(self):
        """The commits that fetched all hosts, with their times, the oldest first."""
        log = self.git("log", "--reverse", "--format=%H %ct %s").decode().splitlines()
        commits = [line.split(" ", 2) for line in log]
        return [(commit, int(time)) for commit, time, subject in commits if subject.startswith("Fetched at")]

    def captures(self):
        """The captures as JSON lines, in the order of their times."""
        for commit, time in self.fetches():
            for host, blob in sorted(self.hosts(commit).items()):
                yield f'{{"url": "http://{host}/robots.txt", "fetched_at": {time}, {self.answer(blob)}}}\n'.encode()

    def hosts(self, commit):
        """The hosts that a commit fetched, with the object of each answer. The folders also keep files of
        hosts that were fetched before and are in no list any more."""
        text = self.git("show", f"{commit}:all_domains_to_check.csv").decode("utf-8", "replace")
        # The first fetch had no folders, and the column had another name until November 2020.
        listed = {(row.get("source") or row.get("site_type") or "", row["domain"]) for row in csv.DictReader(io.StringIO(text))}
        found = {}
        for entry in self.git("ls-tree", "-r", "-z", commit, "data/").split(b"\0")[:-1]:
            meta, _, path = entry.partition(b"\t")
            folder, _, name = path.decode("utf-8", "replace").removeprefix("data/").rpartition("/")
            if (folder, name) in listed:
                # A host in several lists is taken from the first.
                found.setdefault(name.strip().lower(), meta.split()[2])
        return found

    def answer(self, blob):
        """The fields of a capture, made once per object: most answers are those of the week before."""
        if blob not in self.answers:
            self.answers[blob] = fields(self.object(blob))
        return self.answers[blob]

    def object(self, blob):
        self.objects.stdin.write(blob + b"\n")
        self.objects.stdin.flush()
        length = int(self.objects.stdout.readline().split()[2])
        return self.objects.stdout.read(length + 1)[:-1]


def fields(content):
    """The fields of a capture, without braces."""
    if content.startswith(b'{"'):
        try:
            note = json.loads(content)
        except ValueError:
            note = {}
        kind = note.get("issue_type") if isinstance(note, dict) else None
        if kind == "request_error":
            return '"error": ' + json.dumps(str(note.get("error_msg"))[:200])
        if kind == "html_response_error":
            # Such a page has no rules, whatever is in it.
            status = note.get("status_code", 200)
            return f'"status": {status}' + (', "body": "<html>"' if 200 <= status < 300 else "")
    try:
        return '"status": 200, "body": ' + json.dumps(content.decode())
    except UnicodeDecodeError:
        return '"status": 200, "body_base64": ' + json.dumps(base64.b64encode(content).decode())
