-- The store's first schema. Ids are UUIDv7 text, times epoch milliseconds UTC, JSON is text, hashes are BLAKE3 in hex.
-- Raw input is kept for ever in `blobs`; everything else but names, times and people's words can be made again from it.

-- Raw bytes as they arrived. Small ones stand here (zstd in `data`), large ones as files named by their hash.
create table blobs (
    hash       text primary key,
    bytes      integer not null,
    data       blob,
    created_ms integer not null
) strict;

create table uploads (
    id         text primary key,
    hash       text not null unique references blobs (hash),
    bytes      integer not null,
    created_ms integer not null
) strict;

create table upload_names (
    upload_id  text not null references uploads (id),
    name       text not null,
    created_ms integer not null,
    primary key (upload_id, name)
) strict, without rowid;

-- What an evaluation yields, without node, run and time: reports that say the same share one row.
create table bodies (
    hash       text primary key,
    report     blob not null, -- zstd of the report's JSON, facts included
    brief      text not null, -- the report's JSON with what a list row shows
    lanes      blob not null, -- zstd of the charts' JSON
    gpus       text,
    driver     text,
    win_share  real,          -- the headline's recoverable share
    created_ms integer not null
) strict;

create table reports (
    id         text primary key,
    kind       text not null check (kind in ('upload', 'snapshot', 'run')),
    group_id   text not null, -- the id of the first report of the same inputs
    idx        integer not null default 0, -- one report a host: its number within the group
    key        text unique,   -- the set of inputs, so that the same inputs give the same report
    node       text,
    run        text,
    taken_ms   integer,
    created_ms integer not null,
    sources    text not null, -- JSON: [{"name": …, "join": …, "blobs": [hash, …]}, …], by the reports' input file index
    state      text not null check (state in ('empty', 'pending', 'ready', 'failed')),
    wanted     integer not null default 1, -- counts requests; an evaluation that began before the last one is repeated
    priority   integer not null default 0,
    catalogue  text,          -- catalogue that made the body
    made_ms    integer,
    body       text references bodies (hash),
    problem    text,          -- why the evaluation failed, for people
    unique (group_id, idx)
) strict;
create index reports_pending on reports (priority desc, id) where state = 'pending';
create index reports_body on reports (body);

create table nodes (
    name            text primary key,
    created_ms      integer not null,
    seen_ms         integer not null,
    snapshots       integer not null default 0,
    last_taken_ms   integer not null,
    last_report_id  text not null references reports (id),
    report_id       text references reports (id), -- the newest that is ready
    report_taken_ms integer,
    win_share       real,                          -- of that report's headline
    fails           integer not null default 0     -- failing checks of that report
) strict;
create index nodes_win on nodes (win_share desc, fails desc, name);

create table snapshots (
    id          text primary key,
    node        text not null references nodes (name),
    taken_ms    integer not null,
    received_ms integer not null,
    hash        text not null references blobs (hash),
    report_id   text not null references reports (id),
    unique (node, hash)
) strict;
create index snapshots_node on snapshots (node, taken_ms);

create table runs (
    id          text primary key,
    name        text not null,
    node        text,
    started_ms  integer not null,
    ended_ms    integer,
    exit_status integer,
    state       text not null check (state in ('running', 'finished', 'lost')),
    command     text,
    world       integer,
    receipt     text,
    created_ms  integer not null,
    seen_ms     integer not null,
    dirty       integer not null default 0, -- chunks came since the report was last asked for
    report_id   text not null references reports (id)
) strict;
create index runs_started on runs (started_ms desc, id desc);
create index runs_report on runs (report_id);
create index runs_node on runs (node, started_ms desc);
create index runs_dirty on runs (id) where dirty = 1;
create index runs_open on runs (seen_ms) where state = 'running';

create table run_chunks (
    run_id      text not null references runs (id),
    kind        text not null,
    name        text not null,
    seq         integer not null,
    hash        text not null references blobs (hash),
    bytes       integer not null,
    received_ms integer not null,
    primary key (run_id, kind, name, seq)
) strict, without rowid;

-- Where a check fires in the newest report of each subject.
create table firing (
    subject   text not null, -- node, run or report
    id        text not null, -- node name, run id or report id
    check_id  text not null,
    verdict   text not null,
    share     real,
    message   text not null,
    primary key (subject, id, check_id)
) strict, without rowid;
create index firing_check on firing (check_id);
