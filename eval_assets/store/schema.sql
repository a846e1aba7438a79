-- The database of one evaluation folder. Names are relied upon: columns are only added.
-- Undefined is NULL: never NaN, which DuckDB ranks above every number.
-- No primary keys: readers refuse duplicates with the line they stand on, and an index on
-- millions of ratings would cost more than everything else done to them.

-- Every measured figure once. human_agreement, judge_agreement, ... are views on it, made from the
-- records in figures.py.
CREATE TABLE IF NOT EXISTS figures (
    table_name VARCHAR NOT NULL,           -- view that shows it
    "row" BIGINT NOT NULL,                 -- row of that view, from 1
    subject VARCHAR,                       -- scope, judge or slice that it is about
    "key" VARCHAR NOT NULL,                -- JSON object of the row's other columns
    statistic VARCHAR NOT NULL,
    value DOUBLE, low DOUBLE, high DOUBLE, -- with the ends of the 95 % interval
    n BIGINT,                              -- units that it is measured on
    n_groups BIGINT,                       -- response groups that these belong to
    method VARCHAR,                        -- of the interval
    data_version VARCHAR                   -- of the ratings that were measured
);

-- What figures that gates compare were when they were measured: an edited one opens no gate.
CREATE TABLE IF NOT EXISTS figure_fingerprints (
    table_name VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL           -- SHA-256 of its overall figures and those by question
);

-- {views on figures}

-- The folder whose evaluation this is: one row.
CREATE TABLE IF NOT EXISTS evaluation_folder (
    path VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS imports (
    table_name VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,          -- of everything that decides the rows
    sources VARCHAR NOT NULL,              -- fingerprint of the files alone
    imported_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE IF NOT EXISTS rubric_questions (
    question_id VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    scale_min DOUBLE NOT NULL,
    scale_max DOUBLE NOT NULL,
    scale_values DOUBLE[],                 -- NULL: every value in [scale_min, scale_max]
    level VARCHAR NOT NULL,
    guidelines VARCHAR NOT NULL,
    scored_by VARCHAR NOT NULL,            -- 'judge' or 'function'
    position INTEGER NOT NULL
);

-- Questions that are asked of some responses only: those with one of the values in each column.
CREATE TABLE IF NOT EXISTS question_limits (
    question_id VARCHAR NOT NULL,
    column_name VARCHAR NOT NULL,          -- of responses, or an attribute
    value VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS responses (
    response_id VARCHAR NOT NULL,
    prompt_text VARCHAR,
    response_text VARCHAR,
    model_name VARCHAR,
    group_id VARCHAR,
    indicator_id VARCHAR,
    convo_id VARCHAR,
    turn_index BIGINT,
    seed VARCHAR,
    difficulty VARCHAR,
    role VARCHAR,
    timestamp VARCHAR,
    attributes JSON
);

CREATE TABLE IF NOT EXISTS generated_responses (
    response_id VARCHAR NOT NULL,
    generator_id VARCHAR NOT NULL,
    status VARCHAR NOT NULL,               -- only 'ok' has a text, and goes to responses
    error VARCHAR,
    indicator_id VARCHAR,
    convo_id VARCHAR NOT NULL,
    turn_index BIGINT NOT NULL,
    seed VARCHAR NOT NULL,
    prompt_text VARCHAR NOT NULL,
    response_text VARCHAR NOT NULL,
    difficulty VARCHAR,
    attributes JSON
);

CREATE TABLE IF NOT EXISTS human_labels (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    rater_id VARCHAR NOT NULL,
    value DOUBLE NOT NULL,
    labelled_at VARCHAR,
    confidence VARCHAR,
    notes VARCHAR,
    round INTEGER NOT NULL,                -- of the ratings of a unit, only the latest are here
    guideline_hash VARCHAR,                -- of what the rater was shown, if the labels say so
    rubric_version INTEGER,                -- in rubric_versions; 0: a version that no run has seen
    details JSON,                          -- whatever else a session says of the label
    source VARCHAR NOT NULL                -- file:line
);

-- Ratings that do not count: of units that were rated again in a later round, and under another
-- version of the question.
CREATE TABLE IF NOT EXISTS earlier_labels (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    rater_id VARCHAR NOT NULL,
    value DOUBLE,                          -- NULL: skipped
    labelled_at VARCHAR,
    round INTEGER NOT NULL,
    guideline_hash VARCHAR,
    rubric_version INTEGER,
    source VARCHAR NOT NULL
);

-- Wordings of the questions in the order in which they came into use, one more row if one is used
-- again; a mirror of the ledger.
CREATE TABLE IF NOT EXISTS rubric_wordings (
    question_id VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    fingerprint VARCHAR NOT NULL,          -- the guideline_hash of labels
    text VARCHAR NOT NULL,
    scale VARCHAR NOT NULL,
    guidelines VARCHAR NOT NULL,
    first_seen_at VARCHAR NOT NULL,
    labels_before VARCHAR NOT NULL         -- stored before it, packed
);

CREATE OR REPLACE VIEW rubric_versions AS
SELECT question_id, version, fingerprint, text, scale, guidelines,
       min(labelled_at) AS first_label_at, count(rater_id) AS n_labels
FROM (
    SELECT DISTINCT question_id, version, fingerprint, text, scale, guidelines FROM rubric_wordings
)
LEFT JOIN (
    SELECT question_id, rubric_version AS version, labelled_at, rater_id FROM human_labels
    UNION ALL
    SELECT question_id, rubric_version, labelled_at, rater_id FROM earlier_labels
    WHERE value IS NOT NULL
) USING (question_id, version)
GROUP BY ALL ORDER BY question_id, version;

CREATE TABLE IF NOT EXISTS skipped_labels (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    rater_id VARCHAR NOT NULL,
    skip_reason VARCHAR,
    labelled_at VARCHAR,
    confidence VARCHAR,
    notes VARCHAR,
    round INTEGER NOT NULL,
    guideline_hash VARCHAR,
    rubric_version INTEGER,
    details JSON,
    source VARCHAR NOT NULL
);

-- Rows of sheets that name a rater and hold no rating.
CREATE TABLE IF NOT EXISTS unrated_labels (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    rater_id VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS rejected_rows (
    file VARCHAR NOT NULL,
    line BIGINT,
    "column" VARCHAR,
    what VARCHAR NOT NULL,
    remedy VARCHAR NOT NULL,
    rater_id VARCHAR,                      -- as far as the row says
    question_id VARCHAR,
    sheet VARCHAR                          -- if several sheets of a spreadsheet are read
);

-- How disagreements were settled, as adjudications.jsonl says last of each.
CREATE TABLE IF NOT EXISTS adjudicated_labels (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    value DOUBLE,                          -- NULL if excluded
    source VARCHAR NOT NULL,               -- 'consensus'
    excluded BOOLEAN NOT NULL,             -- left out as ambiguous
    reason VARCHAR NOT NULL,
    decided_by VARCHAR NOT NULL,
    decided_at VARCHAR NOT NULL,
    own_rating DOUBLE,                     -- by who decided, before seeing the others
    ratings JSON NOT NULL,                 -- {rater_id: value} as they were then
    is_override BOOLEAN NOT NULL           -- judges disagreed, and a person decided
);

-- Labels that do not count: agreement uses the first label of the latest round.
CREATE TABLE IF NOT EXISTS label_history (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    rater_id VARCHAR NOT NULL,
    round INTEGER NOT NULL,
    kind VARCHAR NOT NULL,                 -- 'change', 'repeat', 'discussion' or 'round'
    "before" DOUBLE,                       -- NULL: skipped
    "after" DOUBLE,
    changed_at VARCHAR
);

CREATE TABLE IF NOT EXISTS label_quality (
    question_id VARCHAR NOT NULL,
    rater_id VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,
    value DOUBLE,                          -- NULL: undefined
    n BIGINT NOT NULL,                     -- labels, or shared responses, behind it
    advice VARCHAR NOT NULL                -- what to do about it; may be empty
);

CREATE TABLE IF NOT EXISTS label_disagreements (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    n_ratings BIGINT NOT NULL,
    range DOUBLE NOT NULL,                 -- in scale points; of classes without order 1
    standard_deviation DOUBLE NOT NULL,    -- of these ratings (population); of classes as of 0 and 1
    ratings JSON NOT NULL,                 -- {rater_id: value}
    value_counts JSON NOT NULL,            -- {value: raters who gave it}
    reason VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS judge_scores (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    judge_id VARCHAR NOT NULL,
    score DOUBLE,                          -- NULL unless status = 'ok'; mapped if a version's maps are used
    status VARCHAR NOT NULL,               -- 'conversation': scored as a whole, in raw_score
    raw_score DOUBLE,                      -- as read, even if it is off the scale, before any map
    raw_output VARCHAR,
    rationale VARCHAR,
    error VARCHAR,                         -- why there is no reply
    spread DOUBLE,                         -- highest minus lowest of several, in scale points
    runs DOUBLE[],                         -- scores of several runs or replicates, of which score is the aggregate
    needs_person BOOLEAN                   -- whether people rate the response; NULL if no part was certified
);

CREATE TABLE IF NOT EXISTS judges (
    judge_id VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR,
    n_units BIGINT NOT NULL,
    n_ok BIGINT NOT NULL,
    fingerprint VARCHAR NOT NULL,          -- of provider, model, prompt and settings as declared
    position INTEGER NOT NULL,             -- as declared, from 0: the first two are the pair
    version VARCHAR,                       -- that it rates as; NULL if it rates as declared
    version_hash VARCHAR,                  -- of that version, if tuning changed its prompt or maps
    is_backup BOOLEAN NOT NULL,            -- asked only where another judge has no score
    stopped VARCHAR,                       -- why the last run stopped asking it early; NULL if it did not
    other_models VARCHAR                   -- models that replied in place of the requested one, by their own account
);

-- What to know of a question's ratings; what stands out in a rater's is in label_quality.
CREATE TABLE IF NOT EXISTS label_findings (
    question_id VARCHAR NOT NULL,
    finding VARCHAR NOT NULL
);

-- Responses on which a judge and the mean human rating lie half the scale apart, worst first.
CREATE TABLE IF NOT EXISTS judge_human_disagreements (
    judge_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    response_id VARCHAR NOT NULL,
    direction VARCHAR NOT NULL,            -- 'judge higher' or 'judge lower'
    human_mean DOUBLE NOT NULL,            -- or the consensus, if there is one
    n_ratings BIGINT NOT NULL,             -- by humans
    score DOUBLE NOT NULL,
    difference DOUBLE NOT NULL             -- score minus human_mean, in scale points
);

-- A judge's bias by system, tercile of the response's length, turn and attribute. `bias` is judge
-- minus people; `relative` is that at equal quality, relative to the values that are not named.
-- Outside a held-out test; NULL where people do not agree within values, or nobody rated twice.
CREATE TABLE IF NOT EXISTS judge_bias (
    judge_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,            -- 'system', 'length', 'turn' or a column of the responses
    value VARCHAR NOT NULL,                -- 'other': values of fewer than 10 groups together
    n_units BIGINT NOT NULL,               -- with a score and a human rating
    n_groups BIGINT NOT NULL,
    bias DOUBLE, bias_low DOUBLE, bias_high DOUBLE,
    relative DOUBLE, relative_low DOUBLE, relative_high DOUBLE,
    p_adjusted DOUBLE,                     -- Holm's, over the values of the attribute
    is_named BOOLEAN NOT NULL,             -- significant, and at least .05 of the scale
    state VARCHAR NOT NULL                 -- 'pass', 'fail', 'need_more_data' or 'not_measured'
);

-- How often the same rater rates the same response differently, by runs of a judge, and by copies
-- of a response with the same text to the same prompt. Copies that are rated side by side are
-- remembered, so they underrate people's noise.
CREATE TABLE IF NOT EXISTS repeatability (
    rater_id VARCHAR,                      -- NULL: people together, each with themselves
    kind VARCHAR NOT NULL,                 -- 'human' or 'judge'
    question_id VARCHAR NOT NULL,
    source VARCHAR NOT NULL,               -- 'run' or 'same text'
    n_pairs BIGINT NOT NULL,
    n_groups BIGINT NOT NULL,
    flip_rate DOUBLE, low DOUBLE, high DOUBLE,
    icc DOUBLE, icc_low DOUBLE, icc_high DOUBLE -- intraclass correlation; NULL of classes without order
);

-- The pass rate as people would give it, by a judge's scores of all responses and people's ratings
-- of some, outside a held-out test; of questions with a pass, such as those of two classes.
CREATE TABLE IF NOT EXISTS corrected_rates (
    judge_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    model_name VARCHAR,                    -- NULL: all responses
    rate_of_judge DOUBLE NOT NULL,
    rate DOUBLE, low DOUBLE, high DOUBLE,
    n_labelled BIGINT NOT NULL,            -- with a score and a human rating
    n_scored BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS judge_confusion (
    judge_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    human_value DOUBLE NOT NULL,           -- lower median of the response's human ratings
    judge_value DOUBLE NOT NULL,           -- score at the nearest value of the scale
    n_units BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS gate_verdicts (
    gate VARCHAR NOT NULL,
    question_id VARCHAR,                   -- NULL overall
    value DOUBLE, low DOUBLE, high DOUBLE,
    minimum DOUBLE NOT NULL,
    verdict VARCHAR NOT NULL,              -- 'pass', 'fail' or 'not_evaluable'
    state VARCHAR,                         -- 'pass', 'fail', 'need_more_data' or 'not_measured'
    is_closed BOOLEAN NOT NULL,            -- tuning is blocked; of a question: for that question
    reason VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    evaluated_at TIMESTAMPTZ NOT NULL,
    data_version VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS judge_splits (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    split VARCHAR NOT NULL,                -- 'train', 'dev' or 'test': the same for all questions
    group_id VARCHAR NOT NULL,             -- responses of one group are never parted
    data_version VARCHAR NOT NULL,
    stale_because VARCHAR,                 -- a gate that closed since; NULL while the rows hold
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- What each value that a judge gave becomes, fitted on train.
CREATE TABLE IF NOT EXISTS score_calibration (
    judge_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    judge_value DOUBLE,                    -- NULL if the judge scored nothing in train
    mapped_value DOUBLE,
    train_gain DOUBLE,                     -- of the best map, on train, where it was fitted
    train_gain_se DOUBLE,                  -- its jackknife standard error
    verdict VARCHAR NOT NULL,              -- 'mapped', 'unchanged' or 'not_evaluable'
    reason VARCHAR NOT NULL,
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- The version of each judge that is tested now; judge_versions has what it is.
CREATE TABLE IF NOT EXISTS tuned_judges (
    judge_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    step VARCHAR NOT NULL,                 -- last step that changed the judge; 'declared' if none did
    definition_hash VARCHAR NOT NULL,
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- Answers that a live judge rates again and again: frozen, one of each group.
CREATE TABLE IF NOT EXISTS drift_anchors (
    judge_id VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,          -- of the judge: another one has other anchors
    question_id VARCHAR NOT NULL,
    rubric VARCHAR NOT NULL,               -- SHA-256 of the question as it was asked
    response_id VARCHAR NOT NULL,
    prompt_text VARCHAR NOT NULL,
    response_text VARCHAR NOT NULL,
    score DOUBLE NOT NULL,                 -- when they were frozen
    frozen_at TIMESTAMPTZ NOT NULL
);

-- What each round of judging the anchors again says of a judge on a question.
CREATE TABLE IF NOT EXISTS judge_drift (
    judge_id VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    rubric VARCHAR NOT NULL,
    round INTEGER NOT NULL,                -- from 1
    judged_at TIMESTAMPTZ NOT NULL,
    n_anchors BIGINT NOT NULL,             -- with both scores
    n_moved BIGINT NOT NULL,               -- with another score than when they were frozen
    shift DOUBLE,                          -- mean score now minus then, of the anchors
    shift_low DOUBLE, shift_high DOUBLE,   -- interval at the round's level
    p_value DOUBLE,                        -- of the sign-flip test
    level DOUBLE NOT NULL,                 -- two-sided; those of all rounds and tests add up to .05
    verdict VARCHAR NOT NULL,              -- 'stable', 'moved' or 'not_evaluable'
    reason VARCHAR NOT NULL
);

-- What live judges said of rated units with each prompt that a version of them has or had.
CREATE TABLE IF NOT EXISTS tuned_judge_scores (
    judge_id VARCHAR NOT NULL,
    prompt_hash VARCHAR NOT NULL,          -- of the prompt, as in judge_versions
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    score DOUBLE,                          -- NULL unless status is 'ok'; before any map
    status VARCHAR NOT NULL,
    raw_output VARCHAR,
    cost_usd DOUBLE,                       -- of all attempts; NULL if not known
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- Results of evaluations of held-out tests; figures that stay hidden are NULL.
CREATE TABLE IF NOT EXISTS tuned_judge_evaluation (
    judge_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,                 -- 'fitness', 'improvement' or 'fitness_in_part'
    n_units BIGINT,
    n_groups BIGINT,
    reading INTEGER,                       -- number of the evaluation of the test, from 1; NULL without one
    level DOUBLE,                          -- two-sided, of this test
    kappa DOUBLE,                          -- agreement with people beyond chance
    kappa_baseline DOUBLE,                 -- of the judge as it stands
    gain DOUBLE, gain_low DOUBLE, gain_high DOUBLE,
    kappa_people DOUBLE,                   -- of people with each other
    gap DOUBLE, gap_low DOUBLE, gap_high DOUBLE,
    margin DOUBLE,                         -- how far below people a fit judge may lie
    ratio DOUBLE, ratio_low DOUBLE, ratio_high DOUBLE, -- distance from 1 over the largest allowed: fit below 1
    share DOUBLE,                          -- of a part: share of rater pairs on it
    doubt_source VARCHAR,                  -- of a part: judge, 'other judges' or 'its replicates'
    doubt_threshold DOUBLE,                -- of a part: largest doubt, in scale points
    groups_wanted BIGINT,                  -- groups in the test that would decide
    verdict VARCHAR NOT NULL,
    state VARCHAR,                         -- 'pass', 'fail', 'need_more_data' or 'not_measured'
    reason VARCHAR NOT NULL,
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

CREATE TABLE IF NOT EXISTS judge_certificates (
    judge_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    fitness VARCHAR,                       -- verdicts; NULL if not asked
    improvement VARCHAR,
    state VARCHAR,                         -- by fitness or its part: 'pass', 'fail', 'need_more_data' or 'not_measured'
    reason VARCHAR NOT NULL,
    n_groups BIGINT,
    n_readings BIGINT NOT NULL,            -- of the question's test under this seal
    certificate JSON,                      -- NULL if no claim holds
    created_at TIMESTAMPTZ,
    claim VARCHAR,                         -- 'fit', 'fit_in_part' or 'improved': the first that holds
    share DOUBLE,                          -- of 'fit_in_part': share of rater pairs that the judge replaces
    doubt_source VARCHAR,                  -- judge whose score is compared, 'other judges' or 'its replicates'
    doubt_threshold DOUBLE,                -- largest doubt at which the judge scores alone, in scale points
    groups_wanted BIGINT,                  -- of 'undecided': groups in the test that find a judge equal to people fit
    stale_because VARCHAR,                 -- what changed since; NULL while it holds
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- Power of the next evaluation of each held-out test, by train and dev.
CREATE TABLE IF NOT EXISTS sealed_test_plans (
    judge_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    n_groups BIGINT NOT NULL,              -- groups of the test with ratings and scores
    reading INTEGER NOT NULL,              -- number of the next evaluation
    level DOUBLE NOT NULL,                 -- two-sided, of each of its tests
    expected_gain DOUBLE,                  -- on train and dev
    detectable_gain DOUBLE,                -- that the test finds in 80 % of tries
    groups_for_gain BIGINT,                -- groups in the test that find the expected gain
    chance_improved DOUBLE,                -- chances of the claims
    chance_fit DOUBLE,
    chance_in_part DOUBLE,
    chance_if_equal DOUBLE,                -- chance that a judge equal to people is found fit
    groups_if_equal BIGINT,                -- groups in the test that find such a judge fit in 80 % of tries
    groups_at_gap BIGINT,                  -- groups that find this judge fit; NULL if it is not fit on train and dev
    responses_per_group DOUBLE,            -- rated responses in all for each group of the test
    labels_per_group DOUBLE,               -- labels in all for each group of the test
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- Scores of judges that are certified for a part of the responses.
CREATE TABLE IF NOT EXISTS stand_in_scores (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    judge_id VARCHAR NOT NULL,
    score DOUBLE,                          -- of the certified version; NULL if a person is needed
    needs_person BOOLEAN NOT NULL,
    is_used BOOLEAN NOT NULL,              -- whether no other judge has a larger certified part
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- Means of systems, and differences of two, corrected by human ratings of some of their responses.
CREATE TABLE IF NOT EXISTS system_comparison (
    judge_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,                 -- 'mean' or 'difference' (system less other_system)
    slice VARCHAR NOT NULL,                -- 'all', or what the responses are sorted by
    slice_value VARCHAR,
    system VARCHAR NOT NULL,
    other_system VARCHAR,
    n_responses BIGINT NOT NULL,           -- with a score of the judge
    n_labelled BIGINT NOT NULL,            -- rated by people too
    n_groups BIGINT NOT NULL,              -- of the labelled ones
    judge_only DOUBLE,                     -- by the judge alone: what is usually quoted
    value DOUBLE,                          -- by prediction-powered inference (PPI++)
    low DOUBLE, high DOUBLE,               -- 95 % interval over groups
    low_all DOUBLE, high_all DOUBLE,       -- 95 % interval of all of the slice at once (Bonferroni)
    is_safe BOOLEAN,                       -- whether low_all and high_all are on one side of 0
    stale_because VARCHAR,
    is_gated BOOLEAN DEFAULT false         -- whether stale_because is a closed gate
);

-- Two ways in which responses belong together. `prompt_id`: responses to one prompt, such as a query
-- and its documents. `group_id`: responses that are not independent, so that they are resampled and
-- split together. A prompt of more than half of all responses is an instruction, not a group.
CREATE OR REPLACE VIEW response_groups AS
WITH named AS MATERIALIZED (
    SELECT response_id, coalesce(group_id, convo_id) AS given,
           coalesce(attributes ->> 'prompt_id', md5(prompt_text), response_id) AS prompt_id
    FROM responses
), prompt_of_most AS (
    SELECT prompt_id FROM named
    GROUP BY prompt_id HAVING 2 * count(*) > (SELECT count(*) FROM responses)
), alone AS (
    SELECT response_id FROM named
    WHERE given IS NULL AND (prompt_id = response_id OR prompt_id IN (FROM prompt_of_most))
), copies AS (                             -- a response that occurs twice is one piece of evidence
    SELECT response_id, min(response_id) OVER (PARTITION BY md5(response_text)) AS first_id
    FROM responses SEMI JOIN alone USING (response_id) WHERE trim(response_text) <> ''
)
SELECT response_id, prompt_id,
       coalesce(
           given, first_id, if(prompt_id IN (FROM prompt_of_most), response_id, prompt_id)
       ) AS group_id
FROM named LEFT JOIN copies USING (response_id);

-- Parts of the responses: every column that sorts them into at most 20 values.
CREATE OR REPLACE VIEW response_slices AS
WITH sliced AS (
    SELECT response_id, 'all' AS slice, NULL AS slice_value FROM responses
    UNION ALL SELECT response_id, 'difficulty', difficulty FROM responses
    UNION ALL SELECT response_id, 'indicator_id', indicator_id FROM responses
    UNION ALL
    SELECT response_id, key, value ->> '$' FROM responses, json_each(attributes)
    WHERE key <> 'prompt_id'
)
SELECT * FROM sliced
WHERE (slice = 'all' OR slice_value IS NOT NULL)
  AND slice IN (
      SELECT slice FROM sliced GROUP BY slice
      HAVING slice = 'all' OR count(DISTINCT slice_value) BETWEEN 1 AND 20
  );

-- Models whose responses were made at several temperatures count as one model for each.
CREATE OR REPLACE VIEW model_variants AS
SELECT response_id,
       if(min(temperature) OVER same <> max(temperature) OVER same,
          model_name || ' (temperature ' || coalesce(temperature, 'not stated') || ')', model_name)
       AS model_variant
FROM (SELECT response_id, model_name, attributes ->> 'temperature' AS temperature FROM responses)
WINDOW same AS (PARTITION BY model_name);

-- Judges' agreement on each prompt and each model, over its results by prompt and model.
CREATE OR REPLACE VIEW results_by_prompt AS
SELECT slice_value AS prompt_id, count(*) AS n_results, avg(alpha) AS mean_alpha,
       min(alpha) AS lowest_alpha, count(*) FILTER (alpha < 0.667) AS n_not_reliable,
       avg(mean) AS mean
FROM agreement_by_slice
WHERE rater_kind = 'judge' AND slice = 'prompt_id' AND model_name IS NOT NULL AND alpha IS NOT NULL
GROUP BY ALL;

CREATE OR REPLACE VIEW results_by_model AS
SELECT model_name, count(*) AS n_results, avg(alpha) AS mean_alpha,
       min(alpha) AS lowest_alpha, count(*) FILTER (alpha < 0.667) AS n_not_reliable,
       avg(mean) AS mean
FROM agreement_by_slice
WHERE rater_kind = 'judge' AND slice = 'prompt_id' AND model_name IS NOT NULL AND alpha IS NOT NULL
GROUP BY ALL;

-- Responses of one model in one conversation, named by that of its first turn.
CREATE OR REPLACE VIEW conversations AS
SELECT response_id, response_id AS conversation_id FROM responses WHERE convo_id IS NULL
UNION ALL
SELECT response_id, first_value(response_id) OVER (
    PARTITION BY indicator_id, convo_id, model_name, seed ORDER BY turn_index, response_id
)
FROM responses WHERE convo_id IS NOT NULL;

-- The turns before each response in its conversation, as pairs of prompt and response, oldest first.
CREATE OR REPLACE VIEW earlier_turns AS
SELECT response_id,
       array_agg([coalesce(prompt_text, ''), coalesce(response_text, '')]) OVER (
           PARTITION BY indicator_id, convo_id, model_name, seed ORDER BY turn_index, response_id
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
       ) AS turns
FROM responses WHERE convo_id IS NOT NULL AND turn_index IS NOT NULL
QUALIFY turns IS NOT NULL;

-- Scores that judges gave to conversations as a whole.
CREATE OR REPLACE VIEW conversation_scores AS
SELECT judge_id, question_id, conversation_id, any_value(raw_score) AS score, count(*) AS n_turns
FROM judge_scores JOIN conversations USING (response_id)
WHERE status = 'conversation'
GROUP BY ALL;

-- What is rated: a response whose indicator names a question is rated on that one only, and no
-- response on a question that is limited to others.
CREATE OR REPLACE VIEW asked_units AS
SELECT response_id, question_id
FROM responses CROSS JOIN rubric_questions
ANTI JOIN (
    SELECT response_id, question_id FROM responses, question_limits
    GROUP BY response_id, question_id, column_name
    HAVING NOT bool_or(value IS NOT DISTINCT FROM CASE column_name
        WHEN 'response_id' THEN response_id WHEN 'model_name' THEN model_name
        WHEN 'indicator_id' THEN indicator_id WHEN 'group_id' THEN group_id
        WHEN 'convo_id' THEN convo_id WHEN 'turn_index' THEN turn_index::VARCHAR
        WHEN 'seed' THEN seed WHEN 'difficulty' THEN difficulty
        WHEN 'role' THEN role ELSE attributes ->> column_name
    END)
) USING (response_id, question_id)
WHERE indicator_id IS NULL
      OR indicator_id NOT IN (SELECT question_id FROM rubric_questions)
      OR indicator_id = question_id;

-- Human and judge scores side by side: a row per response, question and rater. Scores are joined by
-- response, so that each turn has its own; the score of a conversation stands beside each of its
-- turns. A response without ratings has one row without a rater; a blank row of a rater has no score.
CREATE OR REPLACE VIEW combined_scores AS
SELECT response_id, question_id, indicator_id, convo_id, model_name, seed, turn_index, difficulty,
       rater_id AS hij_rater_id, value AS hij_score,
       llm_aiescore,                       -- mean of the judges' scores with status ok or conversation
       llm_of_conversation,                -- whether it is one score for all turns of the conversation
       coalesce(n_judges, 0) AS n_judges
FROM asked_units
JOIN responses USING (response_id)
LEFT JOIN (
    SELECT response_id, question_id, rater_id, value FROM human_labels
    UNION ALL SELECT response_id, question_id, rater_id, NULL FROM unrated_labels
) USING (response_id, question_id)
LEFT JOIN (
    SELECT response_id, question_id, count(*) AS n_judges,
           avg(coalesce(score, raw_score)) AS llm_aiescore,
           bool_or(status = 'conversation') AS llm_of_conversation
    FROM judge_scores WHERE status IN ('ok', 'conversation') GROUP BY ALL
) USING (response_id, question_id);

-- The same with a row for each judge, NULL if there is none.
CREATE OR REPLACE VIEW combined_scores_long AS
SELECT combined_scores.* EXCLUDE (llm_aiescore, llm_of_conversation, n_judges), judge_id,
       if(status = 'conversation', raw_score, score) AS judge_score, status AS judge_status
FROM combined_scores LEFT JOIN judge_scores USING (response_id, question_id)
ORDER BY response_id, question_id, hij_rater_id, judge_id;

-- Every rating of a response, by people and by judges. Units that a judge was not asked about, or
-- scored as part of a conversation, are left out.
CREATE OR REPLACE VIEW ratings AS
SELECT response_id, question_id, 'human' AS rater_kind, rater_id, NULL::VARCHAR AS model,
       value AS rating,                    -- NULL unless status is 'ok'
       'ok' AS status, notes AS explanation, labelled_at
FROM human_labels
UNION ALL
SELECT response_id, question_id, 'judge', judge_id, model, score, status,
       coalesce(rationale, raw_output), NULL
FROM judge_scores JOIN judges USING (judge_id)
WHERE status NOT IN ('missing', 'conversation')
ORDER BY question_id, rater_kind, rater_id, response_id;

-- The nine columns of a combined_scores.csv. A response without indicator is named by the question.
CREATE OR REPLACE VIEW hij_combined_scores AS
SELECT coalesce(indicator_id, question_id) AS indicator_id,
       coalesce(convo_id, response_id) AS convo_id,
       model_name, seed, turn_index, difficulty, hij_rater_id, hij_score, llm_aiescore
FROM combined_scores
ORDER BY ALL;

-- Copies of the ledger, which holds what cannot be computed again: refreshed by every asset that
-- asks. Deleting them loses nothing.

-- Attempts to ask a model. charged_usd is what counts towards budgets: the cost, or the most that it
-- can be if it is not known.
CREATE TABLE IF NOT EXISTS judge_calls (
    call_key VARCHAR NOT NULL,             -- of everything that decides the reply
    attempt INTEGER NOT NULL,              -- from 1, within one run
    judge_id VARCHAR NOT NULL,             -- or the generator's id
    operation VARCHAR NOT NULL,            -- 'judging' or 'generation'
    response_id VARCHAR,
    question_id VARCHAR,
    replicate INTEGER NOT NULL,            -- from 0
    provider VARCHAR NOT NULL,
    base_url VARCHAR NOT NULL,
    model_requested VARCHAR NOT NULL,
    model_returned VARCHAR,
    status VARCHAR NOT NULL,               -- 'repeated' of a second reply to a request
    http_status INTEGER,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cached_input_tokens BIGINT,
    cost_usd DOUBLE,                       -- NULL if tokens or price are unknown
    in_batch BOOLEAN NOT NULL,
    latency_seconds DOUBLE NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    request_id VARCHAR,
    raw_output VARCHAR,
    error VARCHAR,
    run_id VARCHAR,
    asset VARCHAR,                         -- or command that sent it
    reasoning_tokens BIGINT,
    cache_write_tokens BIGINT,
    charged_usd DOUBLE,
    ledger_id BIGINT
);

-- What each asset spent in each run.
CREATE OR REPLACE VIEW run_spending AS
SELECT run_id, asset,
       CASE WHEN count(*) FILTER (cost_usd IS NULL AND charged_usd > 0) = 0
            THEN coalesce(sum(cost_usd), 0) END AS spent_usd,   -- NULL if some of it is not known
       max(started_at) AS recorded_at
FROM judge_calls
WHERE run_id IS NOT NULL
GROUP BY run_id, asset;

-- What a judge wrote from the report's figures, if evaluation.yaml asks for it.
CREATE TABLE IF NOT EXISTS executive_summary (
    judge_id VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    summary VARCHAR,                       -- NULL if it is not shown
    refused_because VARCHAR                -- no reply, or a number that is not among the figures
);

-- How agreement went from run to run.
CREATE TABLE IF NOT EXISTS agreement_history (
    run_id VARCHAR NOT NULL,
    measured_at TIMESTAMPTZ NOT NULL,
    scope VARCHAR NOT NULL,
    question_id VARCHAR,
    a_hh DOUBLE,
    alpha DOUBLE,
    judge_alpha DOUBLE,
    data_version VARCHAR,                  -- of the labels and, if judges agreed with each other, of the scores
    judge_set_fingerprint VARCHAR
);

-- Versions of judges that tuning made; a version is never changed.
CREATE TABLE IF NOT EXISTS judge_versions (
    judge_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL,              -- model.prompt.maps: which of them changed
    step VARCHAR NOT NULL,                 -- of tuning; 'declared' for the judge as it stands
    parent VARCHAR,                        -- version that it was made from
    prompt_text VARCHAR NOT NULL,          -- template; empty for recorded scores and juries
    prompt_hash VARCHAR NOT NULL,          -- SHA-256
    sources JSON NOT NULL,                 -- ids of the responses and notes that the prompt was made from
    definition JSON NOT NULL,              -- everything that decides the scores: prompt, maps, weights
    definition_hash VARCHAR NOT NULL,      -- SHA-256
    notes JSON NOT NULL,                   -- what changed, candidates that were tried, dev_kappa and cost_usd
    dev_kappa JSON,                        -- agreement beyond chance on dev, by question
    cost_usd DOUBLE,                       -- of trying prompts in the run that made it; NULL if not known
    created_at TIMESTAMPTZ NOT NULL
);

-- Evaluations of held-out tests.
CREATE TABLE IF NOT EXISTS test_set_uses (
    seal_id VARCHAR NOT NULL,              -- evaluation and number of the test
    question_id VARCHAR NOT NULL,
    k INTEGER NOT NULL,                    -- number of the evaluation, from 1
    judge_set VARCHAR NOT NULL,            -- fingerprint of judges, scores and labels
    level DOUBLE NOT NULL,                 -- two-sided
    candidates JSON NOT NULL,              -- versions fixed before, read together; groups
    released JSON,                         -- what it printed
    read_at TIMESTAMPTZ NOT NULL
);

-- The currency that evaluation.yaml declares; empty before the first run.
CREATE TABLE IF NOT EXISTS currency (
    code VARCHAR NOT NULL,
    per_usd DOUBLE NOT NULL                -- price of one USD
);

-- Id of a prompt with a question in `ground_truth` and `api_cost_log`.
CREATE OR REPLACE MACRO prompt_number(prompt_id, question_id) AS
    (md5_number_lower(prompt_id || ' ' || question_id) >> 1)::BIGINT;

-- api_name is the vendor with the model, as openai_gpt4o, or for Anthropic with its line, as
-- anthropic_haiku. A request in a batch is 'batch', whatever it is for.
CREATE OR REPLACE VIEW api_cost_log AS
SELECT started_at AS timestamp,
       provider || '_' || CASE provider
           WHEN 'anthropic' THEN coalesce(
               nullif(regexp_extract(model_requested, 'haiku|sonnet|opus|fable'), ''), model_requested)
           ELSE replace(regexp_replace(model_requested, '-\d{4}-\d{2}-\d{2}$', ''), '-', '')
       END AS api_name,
       CASE
           WHEN in_batch THEN 'batch'
           WHEN asset = 'dual-judge' THEN 'dual_judge_evaluation'
           WHEN asset = 'tuned_judges' THEN 'tuning'
           WHEN asset = 'judge_drift' THEN 'drift'
           WHEN asset IN ('agreement_report', 'executive_summary', 'rubric_draft') THEN 'summary'
           ELSE operation
       END AS operation,
       input_tokens + output_tokens AS token_count,
       cost_usd * coalesce(per_usd, 1) AS estimated_cost,
       coalesce(code, 'USD') AS currency,
       coalesce(
           TRY_CAST(regexp_extract(response_id, '^query-(\d+)/document-', 1) AS BIGINT),
           prompt_number(coalesce(prompt_id, response_id), coalesce(question_id, ''))
       ) AS query_id,                      -- `ground_truth.id`
       response_id,
       model_requested AS model
FROM judge_calls LEFT JOIN currency ON true LEFT JOIN response_groups USING (response_id);

-- Scores of the responses to one prompt by the first two judges declared.
CREATE TABLE IF NOT EXISTS prompt_judgements (
    prompt_id VARCHAR NOT NULL,            -- as given, else a hash of the prompt
    question_id VARCHAR NOT NULL,
    query VARCHAR,                         -- the prompt
    response_ids VARCHAR[] NOT NULL,
    judge1_score DOUBLE[] NOT NULL,        -- as long as response_ids, NULL if there is no score
    judge2_score DOUBLE[] NOT NULL,
    judge1_id VARCHAR NOT NULL,
    judge2_id VARCHAR NOT NULL,
    judge1_model VARCHAR,                  -- NULL if it scored none of them
    judge2_model VARCHAR,
    n_units BIGINT NOT NULL,               -- responses that both scored
    kappa DOUBLE,                          -- scores above the middle of the scale against the rest
    kappa_reason VARCHAR,                  -- why there is no kappa
    created_at TIMESTAMPTZ NOT NULL
);

-- The latest result of each query of `eval-assets dual-judge`; the ledger keeps the others.
CREATE TABLE IF NOT EXISTS dual_judgements (
    query_id BIGINT NOT NULL,
    query VARCHAR NOT NULL,
    docs BIGINT[] NOT NULL,                -- ids of the documents
    expected_docs BIGINT[],                -- those that people marked relevant; NULL without marks
    judge1_score DOUBLE[] NOT NULL,        -- as long as docs, NULL if there is no score
    judge2_score DOUBLE[] NOT NULL,
    judge1_model VARCHAR,
    judge2_model VARCHAR,
    kappa DOUBLE,
    kappa_reason VARCHAR,                  -- why there is no kappa
    status VARCHAR NOT NULL,               -- 'success', 'partial' or 'error'
    created_at TIMESTAMPTZ NOT NULL
);


CREATE TABLE IF NOT EXISTS judge_disagreements (
    scope VARCHAR NOT NULL,                -- 'prompt' or 'response'
    prompt_id VARCHAR NOT NULL,
    query VARCHAR,
    response_id VARCHAR,                   -- NULL of a prompt
    question_id VARCHAR NOT NULL,
    judge1_id VARCHAR NOT NULL,
    judge2_id VARCHAR NOT NULL,
    judge1_score DOUBLE NOT NULL,          -- on the scale taken to [0, 1]; of a prompt the mean
    judge2_score DOUBLE NOT NULL,
    difference DOUBLE NOT NULL,            -- of these scores; of a prompt the mean over responses
    largest_difference DOUBLE NOT NULL,    -- of one response
    n_units BIGINT NOT NULL,               -- responses to the prompt that both scored
    kappa DOUBLE,                          -- of the prompt
    kappa_reason VARCHAR,                  -- why there is no kappa
    reason VARCHAR NOT NULL                -- why it is listed
);

-- One row a run: kept for ever.
CREATE TABLE IF NOT EXISTS dual_judge_validation (
    timestamp TIMESTAMPTZ NOT NULL,
    kappa_macro DOUBLE,                    -- mean over the prompts that have a kappa
    kappa_micro DOUBLE,                    -- of all units pooled
    status VARCHAR NOT NULL,               -- 'pass', 'fail', 'not_evaluable', 'not_independent'
    n_prompts BIGINT NOT NULL,
    n_prompts_defined BIGINT NOT NULL,     -- prompts with a kappa
    n_units BIGINT NOT NULL,
    wilcoxon_p DOUBLE,                     -- NULL below ten pairs
    median_difference DOUBLE,              -- first judge less the second, on [0, 1]
    judge1_id VARCHAR NOT NULL,
    judge2_id VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,          -- of the two judges
    notes VARCHAR NOT NULL
);

-- Changes of staged judging, in the order in which units are judged.
CREATE TABLE IF NOT EXISTS staged_mode (
    position INTEGER NOT NULL,             -- units judged before
    mode VARCHAR NOT NULL,                 -- 'both' or 'one'
    kappa DOUBLE,                          -- that decided
    n BIGINT NOT NULL,                     -- units behind kappa
    reason VARCHAR NOT NULL
);

-- Units that two raters rated in an earlier round and fewer than two in their latest, which decides.
CREATE OR REPLACE VIEW no_longer_paired AS
WITH counted AS (                          -- labels of other versions are left out for another reason
    SELECT DISTINCT question_id, coalesce(rubric_version, 0) AS version FROM human_labels
), earlier AS (
    SELECT response_id, question_id, round
    FROM (SELECT *, coalesce(rubric_version, 0) AS version FROM earlier_labels)
    SEMI JOIN counted USING (question_id, version)
    WHERE value IS NOT NULL
    GROUP BY ALL HAVING count(DISTINCT rater_id) > 1
), paired AS (
    SELECT response_id, question_id
    FROM human_labels SEMI JOIN earlier USING (response_id, question_id)
    WHERE value IS NOT NULL
    GROUP BY ALL HAVING count(DISTINCT rater_id) > 1
)
SELECT question_id, count(DISTINCT response_id) AS n_responses
FROM earlier ANTI JOIN paired USING (response_id, question_id)
GROUP BY question_id ORDER BY question_id;

-- How far the ratings of one response lie apart: responses by question and band. The bands are those
-- of 0.5, 1, 1.5 and 2 points on a scale from 1 to 5; only equal ratings are perfect.
CREATE OR REPLACE VIEW label_spread AS
SELECT question_id,
       CASE WHEN share = 0 THEN 'perfect'
            WHEN share < 0.125 THEN 'close'
            WHEN share < 0.25 THEN 'good'
            WHEN share < 0.375 THEN 'moderate'
            WHEN share < 0.5 THEN 'high'
            ELSE 'very high'
       END AS band,
       count(*) AS n_responses
FROM (
    SELECT question_id, stddev_pop(value) / any_value(scale_max - scale_min) AS share
    FROM human_labels JOIN rubric_questions USING (question_id)
    GROUP BY response_id, question_id HAVING count(*) > 1
)
GROUP BY ALL;

-- What judges are compared with: the consensus on a response if there is one, else the mean of its
-- ratings. Agreement between people never uses it.
CREATE OR REPLACE VIEW reference_values AS
SELECT response_id, question_id,
       coalesce(adjudicated_labels.value, mean) AS value,
       if(adjudicated_labels.value IS NULL, 'mean', 'consensus') AS source,
       coalesce(excluded, false) AS excluded,
       reason,
       coalesce(n, 0) AS n_ratings
FROM (
    SELECT response_id, question_id, avg(value) AS mean, count(*) AS n FROM human_labels
    GROUP BY ALL
)
FULL JOIN adjudicated_labels USING (response_id, question_id);

-- Rated responses of a question's held-out test: figures of judges beside people leave them out, so
-- that no judge can be selected by its figures on the test that certifies it.
CREATE TABLE IF NOT EXISTS held_out_units (
    response_id VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL
);

-- Responses in the order in which staged judging came to them. A copy of the ledger.
CREATE TABLE IF NOT EXISTS staged_responses (
    response_ids VARCHAR[] NOT NULL        -- those that were new in a run
);

-- What the judges' prompt shows, as accepted: the latest row holds. A copy of the ledger.
CREATE TABLE IF NOT EXISTS prompt_columns (
    shown_columns VARCHAR[] NOT NULL,      -- columns of the responses
    questions JSON,                        -- wordings of the questions; NULL before there were any
    accepted_at TIMESTAMPTZ NOT NULL
);

CREATE OR REPLACE VIEW reference_values_outside_test AS
FROM reference_values ANTI JOIN held_out_units USING (response_id, question_id);

-- Queries of `dual-judge` and prompts of the evaluation, with the documents that people marked as
-- relevant, or decided to be: on a prompt, the responses with a reference value above the middle of
-- the scale. Ids of documents are text here.
CREATE OR REPLACE VIEW ground_truth_texts AS
WITH decided AS (
    SELECT response_id, question_id, value > (scale_min + scale_max) / 2 AS is_relevant
    FROM reference_values JOIN rubric_questions USING (question_id) WHERE NOT excluded
), labelled AS (
    SELECT prompt_id, question_id, list(response_id ORDER BY place) FILTER (is_relevant) AS relevant
    FROM (
        SELECT prompt_id, question_id, unnest(response_ids) AS response_id,
               generate_subscripts(response_ids, 1) AS place
        FROM prompt_judgements
    )
    JOIN decided USING (response_id, question_id)
    GROUP BY ALL
), queries AS (
    SELECT query_id, list(doc::VARCHAR ORDER BY place) FILTER (
               coalesce(is_relevant, list_contains(expected_docs, doc))) AS relevant,
           bool_or(is_relevant IS NOT NULL) OR any_value(expected_docs) IS NOT NULL AS is_marked
    FROM (
        SELECT query_id, expected_docs, unnest(docs) AS doc, generate_subscripts(docs, 1) AS place,
               'query-' || query_id || '/document-' || doc AS response_id
        FROM dual_judgements
    )
    LEFT JOIN (FROM decided WHERE question_id = 'relevance') USING (response_id)
    GROUP BY query_id
)
SELECT query_id AS id, query, if(is_marked, coalesce(relevant, []), NULL) AS expected_docs,
       docs::VARCHAR[] AS docs, judge1_score, judge2_score, judge1_model, judge2_model, kappa,
       kappa_reason, created_at, 'relevance' AS question_id
FROM dual_judgements JOIN queries USING (query_id)
UNION ALL
SELECT prompt_number(prompt_id, question_id), query,
       if(labelled.prompt_id IS NULL, NULL, coalesce(relevant, [])), response_ids,
       judge1_score, judge2_score, judge1_model, judge2_model, kappa, kappa_reason, created_at,
       question_id
FROM prompt_judgements LEFT JOIN labelled USING (prompt_id, question_id)
WHERE NOT regexp_matches(response_ids[1], '^query-\d+/document-\d+$');

-- The same with whole numbers as ids where all are; see `define_ground_truth`.
CREATE OR REPLACE VIEW ground_truth AS FROM ground_truth_texts;
