BEGIN TRANSACTION;
CREATE TABLE attempts (
	id INTEGER NOT NULL, 
	evaluation TEXT NOT NULL, 
	worker INTEGER, 
	call_key TEXT NOT NULL, 
	attempt INTEGER NOT NULL, 
	judge_id TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	response_id TEXT, 
	question_id TEXT, 
	replicate INTEGER NOT NULL, 
	provider TEXT NOT NULL, 
	base_url TEXT NOT NULL, 
	model_requested TEXT NOT NULL, 
	model_returned TEXT, 
	status TEXT NOT NULL, 
	http_status INTEGER, 
	input_tokens BIGINT, 
	output_tokens BIGINT, 
	reasoning_tokens BIGINT, 
	cached_input_tokens BIGINT, 
	cache_write_tokens BIGINT, 
	cost_usd FLOAT, 
	charged_usd FLOAT NOT NULL, 
	in_batch BOOLEAN NOT NULL, 
	latency_seconds FLOAT NOT NULL, 
	started_at DATETIME NOT NULL, 
	day DATE NOT NULL, 
	request_id TEXT, 
	raw_output TEXT, 
	raw_reply TEXT, 
	error TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "attempts" VALUES(1,'',1,'a',1,'gpt','judging','r-a','q',0,'openai','http://127.0.0.1/v1','gpt-6-luna',NULL,'ok',NULL,100,10,NULL,NULL,NULL,0.01,0.01,0,0.5,'2026-11-21 05:00:00.250000','2026-11-21',NULL,'4','{"choices": ["4"]}',NULL);
INSERT INTO "attempts" VALUES(2,'',1,'b',1,'gpt','judging','r-b','q',0,'openai','http://127.0.0.1/v1','gpt-6-luna',NULL,'api_error',NULL,100,10,NULL,NULL,NULL,NULL,0.0,0,0.5,'2026-11-21 05:00:00.250000','2026-11-21',NULL,NULL,NULL,'HTTP 500');
INSERT INTO "attempts" VALUES(3,'',1,'b',2,'gpt','judging','r-b','q',0,'openai','http://127.0.0.1/v1','gpt-6-luna',NULL,'ok',NULL,100,10,NULL,NULL,NULL,NULL,0.05,0,0.5,'2026-11-21 05:00:00.250000','2026-11-21',NULL,'4','{"choices": ["4"]}',NULL);
INSERT INTO "attempts" VALUES(4,'',2,'a',1,'gpt','judging','r-a','q',0,'openai','http://127.0.0.1/v1','gpt-6-luna',NULL,'ok',NULL,100,10,NULL,NULL,NULL,0.01,0.01,0,0.5,'2026-11-21 05:00:01.250000','2026-11-21',NULL,'3','{"choices": ["4"]}',NULL);
CREATE TABLE batches (
	intent_id TEXT NOT NULL, 
	evaluation TEXT NOT NULL, 
	worker INTEGER NOT NULL, 
	judge_id TEXT NOT NULL, 
	batch_id TEXT, 
	n_requests INTEGER NOT NULL, 
	most_usd FLOAT NOT NULL, 
	intended_at DATETIME NOT NULL, 
	day DATE NOT NULL, 
	closed_at DATETIME, 
	PRIMARY KEY (intent_id)
);
INSERT INTO "batches" VALUES('intent-1','',1,'gpt','batch-1',2,0.04,'2026-11-21 05:00:00.250000','2026-11-21',NULL);
CREATE TABLE claims (
	call_key TEXT NOT NULL, 
	worker INTEGER NOT NULL, 
	batch TEXT, 
	judge_id TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	model TEXT NOT NULL, 
	response_id TEXT, 
	question_id TEXT, 
	replicate INTEGER NOT NULL, 
	most_usd FLOAT NOT NULL, 
	claimed_at DATETIME NOT NULL, 
	PRIMARY KEY (call_key)
);
INSERT INTO "claims" VALUES('c',1,'intent-1','gpt','judging','gpt-6-luna','r-c','q',0,0.02,'2026-11-27 10:46:07.065400');
INSERT INTO "claims" VALUES('d',1,'intent-1','gpt','judging','gpt-6-luna','r-d','q',0,0.02,'2026-11-27 10:46:07.065400');
INSERT INTO "claims" VALUES('e',2,NULL,'gpt','judging','gpt-6-luna','r-e','q',0,0.02,'2026-11-27 10:46:07.078743');
CREATE TABLE endpoints (
	base_url TEXT NOT NULL, 
	model TEXT NOT NULL, 
	in_flight INTEGER NOT NULL, 
	learnt_at DATETIME NOT NULL, 
	PRIMARY KEY (base_url, model)
);
INSERT INTO "endpoints" VALUES('http://127.0.0.1/v1','gpt-6-luna',16,'2026-11-27 10:46:07.071566');
CREATE TABLE histories (
	id INTEGER NOT NULL, 
	evaluation TEXT NOT NULL, 
	history TEXT NOT NULL, 
	"row" JSON NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE judge_versions (
	evaluation TEXT NOT NULL, 
	judge_id TEXT NOT NULL, 
	version TEXT NOT NULL, 
	step TEXT NOT NULL, 
	parent TEXT, 
	prompt_text TEXT NOT NULL, 
	prompt_hash TEXT NOT NULL, 
	sources JSON NOT NULL, 
	definition JSON NOT NULL, 
	definition_hash TEXT NOT NULL, 
	notes JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (evaluation, judge_id, version), 
	UNIQUE (evaluation, judge_id, definition_hash)
);
CREATE TABLE ledger_version (
	version INTEGER NOT NULL, 
	identity TEXT NOT NULL
);
INSERT INTO "ledger_version" VALUES(4,'identity');
CREATE TABLE rate_grants (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	starts_at DOUBLE NOT NULL, 
	requests BIGINT NOT NULL, 
	tokens BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rate_grants" VALUES(1,'account',1.79577636707364511484e+09,1,10);
CREATE TABLE refusals (
	base_url TEXT NOT NULL, 
	model TEXT NOT NULL, 
	capability TEXT NOT NULL, 
	error TEXT NOT NULL, 
	learnt_at DATETIME NOT NULL, 
	PRIMARY KEY (base_url, model, capability)
);
INSERT INTO "refusals" VALUES('http://127.0.0.1/v1','gpt-6-luna','json_schema','400: no','2026-11-27 10:46:07.070833');
CREATE TABLE requests (
	call_key TEXT NOT NULL, 
	prompt TEXT NOT NULL, 
	first_asked_at DATETIME NOT NULL, 
	PRIMARY KEY (call_key)
);
INSERT INTO "requests" VALUES('a','{"messages": ["Rate a."]}','2026-11-27 10:46:07.065400');
INSERT INTO "requests" VALUES('b','{"messages": ["Rate b."]}','2026-11-27 10:46:07.065400');
INSERT INTO "requests" VALUES('c','{"messages": ["Rate c."]}','2026-11-27 10:46:07.065400');
INSERT INTO "requests" VALUES('d','{"messages": ["Rate d."]}','2026-11-27 10:46:07.065400');
INSERT INTO "requests" VALUES('e','{"messages": ["Rate e."]}','2026-11-27 10:46:07.078743');
CREATE TABLE staged_mode (
	evaluation TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	mode TEXT NOT NULL, 
	since DATETIME NOT NULL, 
	kappa FLOAT, 
	n INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (evaluation, position)
);
CREATE TABLE takeovers (
	evaluation TEXT NOT NULL, 
	n_attempts BIGINT NOT NULL, 
	taken_over_at DATETIME NOT NULL, 
	PRIMARY KEY (evaluation)
);
INSERT INTO "takeovers" VALUES('',0,'2026-11-27 10:46:07.057447');
CREATE TABLE test_set_uses (
	seal_id TEXT NOT NULL, 
	question_id TEXT NOT NULL, 
	k INTEGER NOT NULL, 
	evaluation TEXT NOT NULL, 
	judge_set TEXT NOT NULL, 
	level FLOAT NOT NULL, 
	candidates JSON NOT NULL, 
	released JSON, 
	read_at DATETIME NOT NULL, 
	PRIMARY KEY (seal_id, question_id, k)
);
CREATE TABLE workers (
	worker INTEGER NOT NULL, 
	evaluation TEXT NOT NULL, 
	run_id TEXT, 
	asset TEXT NOT NULL, 
	machine TEXT NOT NULL, 
	process BIGINT NOT NULL, 
	started_at DATETIME NOT NULL, 
	lease_until DATETIME NOT NULL, 
	reserved_usd FLOAT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (worker)
);
INSERT INTO "workers" VALUES(1,'','run-1','judge_scores','machine',0,'2026-11-27 10:46:07.060671','2026-11-27 10:46:07.075629',0.0);
INSERT INTO "workers" VALUES(2,'','run-2','judge_scores','machine',4242,'2026-11-27 10:46:07.076153','2026-11-27 10:46:37.077540',0.0);
CREATE INDEX workers_by_run ON workers (run_id);
CREATE INDEX workers_by_lease ON workers (lease_until);
CREATE INDEX claims_by_batch ON claims (batch);
CREATE INDEX claims_by_worker ON claims (worker);
CREATE INDEX attempts_by_day ON attempts (evaluation, day);
CREATE INDEX attempts_by_worker ON attempts (worker);
CREATE INDEX attempts_by_key ON attempts (call_key);
CREATE INDEX batches_by_judge ON batches (evaluation, judge_id);
CREATE INDEX rate_grants_by_account ON rate_grants (account, starts_at);
CREATE INDEX histories_by_name ON histories (evaluation, history);
COMMIT;
