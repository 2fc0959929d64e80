"""Files that other projects wrote for their own tests: downloads source packages, unpacks them, and finds
the archives, lists, tables, logs and robots.txt files in them. The first bytes of a file decide what it is,
not its name."""

import bz2
import io
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib

# Source packages with such files, with versions, so that each run asks the same.
PYPI = [
    "apachelogs==0.6.1",
    "har2warc==1.0.4",
    "protego==0.7.0",
    "pywb==2.10.0",
    "robotexclusionrulesparser==1.7.1",
    "warcat==2.2.5",
    "wpull==2.0.1",
]
NPM = ["robots-txt-guard@1.0.2", "warc@1.0.1"]

# Files beyond this size are left to users: a campaign is to end within minutes.
MOST_BYTES = 64 << 20
GZIP, ZSTD, BZIP2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh"
# The names of texts that talk about robots.txt files and are none.
SOURCE_CODE = tuple(
    ".c .cc .cfg .class .cpp .css .go .h .hpp .htm .html .ini .java .js .json .jsx .lock .map .md .mjs .pxd .py .pyi "
    ".pyx .rb .rs .rst .scala .sh .sql .toml .ts .tsx .xml .yaml .yml".split()
)
USER_AGENT = re.compile(rb"^[ \t]*user-?agent[ \t]*:", re.IGNORECASE | re.MULTILINE)
COMBINED = re.compile(rb'[^"\n]*\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "[^\n]*" \d{3} (\d+|-) "[^\n]*" "[^\n]*"')
CDXJ = re.compile(rb"[^ \n]+ \d{4,17} \{")
CDX = re.compile(rb" CDX [A-Za-z]( |\n)|[^ \n]+ \d{14} \w+://[^ \n]+ [^ \n]+ [^ \n]+ ")
LFS_POINTER = b"version https://git-lfs.github.com/"


def download(folder):
    """Brings the packages below a folder. Returns the folder of each, and prints what cannot be had."""
    found = []
    for name in PYPI:
        # The build of the package's metadata may need wheels of others, so only it is a source.
        package = name.partition("==")[0]
        client = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package, name, "-d"]
        found.append(fetched(folder, name, client))
    for name in NPM:
        found.append(fetched(folder, name, ["npm", "pack", "--silent", name, "--pack-destination"]))
    return [package for package in found if package]


def fetched(folder, name, client):
    """The folder of a package, after its client has fetched it and it is unpacked; None without it. The
    client's last argument is the folder."""
    into = folder / re.sub("[=@]+", "-", name)
    if into.is_dir():
        return into
    into.mkdir(parents=True)
    try:
        done = subprocess.run([*client, into], capture_output=True, text=True)
        message = done.stderr.strip().splitlines()[-1:] if done.returncode else None
    except FileNotFoundError as error:
        message = [str(error)]
    if message is not None:
        print(f"skipped: {name} cannot be downloaded: {' '.join(message)}")
        into.rmdir()
        return None
    for source in list(into.iterdir()):
        with tarfile.open(source) as package:
            # Names that lead out of the folder, links and devices are refused.
            package.extractall(into, filter="data")
        source.unlink()
    return into


def decompressed(data):
    """The content of gzip members, zstd frames or bzip2 streams; other data as it is. Stops at damage."""
    if data.startswith(GZIP):
        parts = []
        while data.startswith(GZIP):
            inflater = zlib.decompressobj(wbits=31)
            try:
                parts.append(inflater.decompress(data))
            except zlib.error:
                break
            data = inflater.unused_data.lstrip(b"\0")
        return b"".join(parts)
    if data.startswith(ZSTD):
        import zstandard

        try:
            return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
        except zstandard.ZstdError:
            return b""
    return bz2.decompress(data) if data.startswith(BZIP2) else data


def kind_of(path, data):
    """What a file is, by its content; None if it is of no interest here."""
    if data.startswith(LFS_POINTER):
        return None
    if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"PK\x03\x04"):
        return "wacz" if path.suffix == ".wacz" else None
    text = decompressed(data)
    if re.match(rb"(WARC/\d|\s*WARC/\d\.\d)", text):
        return "warc"
    if text.startswith(b"filedesc://"):
        return "arc"
    if path.name.lower().endswith(SOURCE_CODE):
        return None
    if CDXJ.match(text):
        return "cdxj"
    if CDX.match(text):
        return "cdx"
    if COMBINED.match(text):
        return "log"
    if b"\0" not in text[:4096] and USER_AGENT.search(text[: 1 << 16]) and not text.startswith(b"HTTP/"):
        return "robots" if data is text else None
    return None


def unpacked(path, folder):
    """The files of a WACZ collection, below a folder."""
    try:
        with zipfile.ZipFile(path) as collection:
            collection.extractall(folder)
    except (zipfile.BadZipFile, OSError, zlib.error):
        return []
    return sorted(file for file in folder.rglob("*") if file.is_file())


def find(package, folder):
    """The files of a package, as pairs of kind and path. `folder` takes what is unpacked."""
    for path in sorted(path for path in package.rglob("*") if path.is_file() and not path.is_symlink()):
        if path.stat().st_size > MOST_BYTES:
            print(f"skipped: {path} is larger than {MOST_BYTES >> 20} MiB")
            continue
        kind = kind_of(path, path.read_bytes())
        if kind:
            yield kind, path
        if kind == "wacz":
            for member in unpacked(path, folder / path.name):
                inner = kind_of(member, member.read_bytes())
                if inner:
                    yield inner, member
