package backend

import (
	"slices"

	"assay/model"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

func asserted(name string, id spec.ID) model.Assertion {
	return model.Assertion{Name: name, Requirement: id, Basis: model.Spec}
}

// The assertions of the specification. Each is evidence for exactly one
// requirement; the rules in this package name them and nothing else.
var (
	topicFromPayload = asserted("topic-comes-from-the-payload", backendreq.API001)
	topicForm        = asserted("topic-is-kind-and-identifier", backendreq.API002)
	idLengthRefused  = asserted("identifier-of-wrong-length-refused", backendreq.API002)
	badTopicRefused  = asserted("bad-topic-in-a-read-refused", backendreq.API003)
	cursorRange      = asserted("cursor-above-int64-refused", backendreq.API004)
	cursorAccepted   = asserted("cursor-in-range-accepted", backendreq.API004)
	cursorAbsent     = asserted("absent-cursor-means-zero", backendreq.API004)

	uniqueID       = asserted("sequence-id-names-one-envelope", backendreq.API010)
	prefixHole     = asserted("read-is-a-prefix", backendreq.API011)
	prefixLate     = asserted("nothing-appears-below-what-was-read", backendreq.API011)
	aboveHeadEmpty = asserted("cursor-above-the-head-is-empty", backendreq.API015)
	ownWrite       = asserted("returned-publish-is-readable", backendreq.API016)

	hashOfValue   = asserted("hash-follows-the-stored-value", backendreq.API020)
	hashLength    = asserted("hash-is-32-bytes", backendreq.API020)
	sameValue     = asserted("another-encoding-is-the-same-envelope", backendreq.API020)
	expiry        = asserted("expiry-is-time-plus-retention", backendreq.API021)
	noFilter      = asserted("expired-rows-stay-readable", backendreq.API021)
	payloadIntact = asserted("payload-comes-back-unchanged", backendreq.API023)

	atomicRefusal  = asserted("refused-publish-stores-nothing", backendreq.API030)
	landsWhole     = asserted("publish-without-an-answer-lands-whole", backendreq.API030)
	oneServerTime  = asserted("one-publish-has-one-server-time", backendreq.API030)
	publishLimit   = asserted("publish-above-a-limit-refused", backendreq.API031)
	publishInLimit = asserted("publish-at-a-limit-accepted", backendreq.API031)
	metaPerEntry   = asserted("one-metadata-per-envelope-in-order", backendreq.API032)
	metaAgrees     = asserted("read-repeats-the-published-metadata", backendreq.API032)
	duplicateMeta  = asserted("duplicate-returns-the-stored-metadata", backendreq.API033)
	storedOnce     = asserted("duplicate-is-stored-once", backendreq.API033)
	collapsed      = asserted("equal-envelopes-in-one-request-share-metadata", backendreq.API034)
	originalIndex  = asserted("index-counts-collapsed-envelopes", backendreq.API036)
	copySucceeds   = asserted("concurrent-copy-succeeds", backendreq.API036)
	retryWorks     = asserted("retry-after-a-lost-answer-succeeds", backendreq.API037)

	malformedRefused = asserted("unparsable-payload-refused", backendreq.API040)
	malformedReason  = asserted("unparsable-payload-has-its-reason", backendreq.API040)
	groupRefused     = asserted("group-message-that-is-no-mls-message-refused", backendreq.API041)
	groupAccepted    = asserted("group-message-accepted", backendreq.API041)
	groupFlag        = asserted("commit-or-proposal-flag-follows-the-content-type", backendreq.API041)
	welcomeAccepted  = asserted("welcome-accepted-unvalidated", backendreq.API045)
	logEntryAccepted = asserted("commit-log-entry-accepted-unverified", backendreq.API046)
	logEntryReturned = asserted("commit-log-entry-and-signature-returned", backendreq.API046)
	logEntryRefused  = asserted("commit-log-entry-without-group-refused", backendreq.API046)
	errorDetail      = asserted("refusal-carries-index-and-reason", backendreq.API047)

	logPosition = asserted("commit-log-position-is-the-sequence-id", backendreq.API065)
	logComplete = asserted("commit-log-loses-and-reorders-nothing", backendreq.API066)

	queryCount     = asserted("query-above-its-topic-limit-refused", backendreq.API070)
	queryCountOK   = asserted("query-at-its-topic-limit-accepted", backendreq.API070)
	limitRule      = asserted("limit-defaults-and-clamps", backendreq.API071)
	queryUnion     = asserted("query-returns-what-is-above-the-cursors", backendreq.API072)
	queryOrder     = asserted("query-ascends-within-a-topic", backendreq.API072)
	hasMore        = asserted("has-more-says-whether-more-matched", backendreq.API073)
	keyPackageRead = asserted("query-of-key-packages-refused", backendreq.API075)
	limitTotal     = asserted("limit-bounds-the-whole-response", backendreq.API076)
	coalesced      = asserted("repeated-topics-start-at-their-lowest-cursor", backendreq.API077)
	countedFirst   = asserted("query-counts-topics-before-coalescing", backendreq.API077)
	checkedFirst   = asserted("query-checks-entries-before-coalescing", backendreq.API077)

	newestCount    = asserted("newest-above-its-topic-limit-refused", backendreq.API080)
	newestCountOK  = asserted("newest-at-its-topic-limit-accepted", backendreq.API080)
	newestPresent  = asserted("newest-answers-exactly-the-topics-with-envelopes", backendreq.API081)
	newestMode     = asserted("newest-carries-the-envelope-only-when-asked", backendreq.API082)
	newestHighest  = asserted("newest-is-the-highest-visible", backendreq.API083)
	newestOnce     = asserted("newest-answers-a-repeated-topic-once", backendreq.API084)
	newestCounted  = asserted("newest-counts-topics-before-coalescing", backendreq.API084)
	newestMetadata = asserted("newest-carries-all-metadata", backendreq.API084)

	sizeCode        = asserted("oversized-request-has-a-size-code", backendreq.API130)
	limitEnforced   = asserted("configured-limit-is-the-enforced-one", backendreq.API131)
	limitPublished  = asserted("limits-are-published", backendreq.API135)
	limitCeiling    = asserted("published-byte-limits-keep-their-ceiling", backendreq.API135)
	streamBound     = asserted("concurrent-streams-are-bounded", backendreq.API132)
	nothingOmitted  = asserted("oversized-response-fails-whole", backendreq.API134)
	plainText       = asserted("refusal-says-why", backendreq.API150)
	retiredMethod   = asserted("retired-endpoint-is-unimplemented", backendreq.API152)
	headersAccepted = asserted("client-headers-accepted", backendreq.API161)
	healthServed    = asserted("health-is-served", backendreq.API162)
	configServed    = asserted("configuration-is-served", backendreq.API162)
)

// Assertions lists every assertion of this package, in the order of the
// specification.
func Assertions() []model.Assertion {
	return append([]model.Assertion{
		topicFromPayload, topicForm, idLengthRefused, badTopicRefused, cursorRange, cursorAccepted, cursorAbsent,
		uniqueID, prefixHole, prefixLate, aboveHeadEmpty, ownWrite,
		hashOfValue, hashLength, sameValue, expiry, noFilter, payloadIntact,
		atomicRefusal, landsWhole, oneServerTime, publishLimit, publishInLimit, metaPerEntry, metaAgrees,
		duplicateMeta, storedOnce, collapsed, originalIndex, copySucceeds, retryWorks,
		malformedRefused, malformedReason, groupRefused, groupAccepted, groupFlag, welcomeAccepted, logEntryAccepted, logEntryReturned, logEntryRefused, errorDetail,
		logPosition, logComplete, streamBound,
		queryCount, queryCountOK, limitRule, queryUnion, queryOrder, hasMore, keyPackageRead, limitTotal, coalesced, countedFirst, checkedFirst,
		newestCount, newestCountOK, newestPresent, newestMode, newestHighest, newestOnce, newestCounted, newestMetadata,
		sizeCode, limitEnforced, limitPublished, limitCeiling, nothingOmitted, plainText, retiredMethod, headersAccepted, healthServed, configServed,
	}, append(identityAssertions(), streamAssertions()...)...)
}

// Ambient lists the requirements that Judge may evaluate in any scenario,
// because ordinary calls, a lost answer or the limits that a subject publishes
// lead there: a scenario need not undertake to decide them. What is left are
// the requirements that only a request made for the purpose can reach.
func Ambient() []spec.ID {
	deliberate := []spec.ID{backendreq.API003, backendreq.API040, backendreq.API075, backendreq.API135, backendreq.API152, backendreq.API161, backendreq.API162}
	var out []spec.ID
	for _, a := range Assertions() {
		if !slices.Contains(deliberate, a.Requirement) && !slices.Contains(out, a.Requirement) {
			out = append(out, a.Requirement)
		}
	}
	return out
}
