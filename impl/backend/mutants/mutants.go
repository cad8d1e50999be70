// Package mutants holds faulty backends: the reference with one piece replaced,
// each breaking one requirement on purpose. They tell whether a test of backends
// would notice.
//
// Start with [All], or [Lookup] for one by name. A mutant has a file of its own, but for families that differ in a
// name; the ways of putting something around a piece are in around.go and identity_around.go.
//
// A mutant changes what a client can observe with the default configuration, and
// what it changes is against the specification's text, not against a choice that
// the specification leaves open. It does nothing else: it never crashes, waits or
// lies about its name.
package mutants

import (
	"fmt"
	"slices"
	"strings"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
)

// Mutant is one fault.
type Mutant struct {
	// Name is lower case words with hyphens, as given on the command line.
	Name string
	// Summary says what it does wrong, in a sentence without its full stop.
	Summary string
	// Requirements are those it breaks: a violation of one of them, and of no
	// other, kills it.
	Requirements []spec.ID
	// Relating says that no single answer gives it away: it takes two calls,
	// one held against the other.
	Relating bool
	// Concurrent says that it shows only when calls meet: one call after the
	// other never gives it away.
	Concurrent bool
	// Streams says that it shows on subscriptions and nowhere else.
	Streams bool
	// Signed says that only sound, signed identity updates or key packages give
	// it away: it takes the harness's scenarios to tell it.
	Signed bool
	// Apply breaks the parts or the configuration. State that the fault needs
	// is made by each call.
	Apply func(*backend.Parts, *config.Config)
}

// All returns every mutant: those that one client can tell, those of identities, in the order of the
// first requirement they break, those of streams, then those that show only when calls meet.
func All() []Mutant { return slices.Concat(sequential(), identityMutants(), streaming(), concurrent()) }

// streaming are the mutants of subscriptions.
func streaming() []Mutant {
	return slices.Concat(streamUpdates(), streamSessions(), streamDelivery(), streamRaces())
}

// sequential are the mutants that one call after the other gives away.
func sequential() []Mutant {
	return []Mutant{
		commitLogOnGroupTopic(),
		unknownKindReadsEmpty(),
		longIdentifierReadsEmpty(),
		absentCursorIsTheEnd(),
		hiddenCursorUnchecked(),
		idsShared(),
		cursorBeyondEndFails(),
		secondTopicUncommitted(),
		hashOverWireBytes(),
		hashOverDataOnly(),
		commitExpires(),
		commitLogExpires(),
		retentionPublishedDoubled(),
		queryExpiryRounded(),
		trailingBytesCut(),
		badEnvelopeStoresOthers(),
		topicLimitLax(),
		envelopeLimitLax(),
		envelopeLimitStrict(),
		requestLimitLax(),
		metasGroupedByTopic(),
		collapsedMetaMissing(),
		duplicateGetsNewTime(),
		duplicateExpiryExtended(),
		duplicateStoredAgain(),
		collapseShiftsIndex(),
		malformedIsTooLarge(),
		garbageCommitLogAccepted(),
		truncatedMessageAccepted(),
		proposalUnmarked(),
		pointerRefused(),
		commitLogSignatureChecked(),
		commitLogSignatureLost(),
		indexFromOne(),
		requestErrorHasIndex(),
		detailMissing(),
		commitLogRenumbered(),
		commitLogEntryDropped(),
		queryCountAfterCoalescing(),
		queryOverflowExhausted(),
		defaultLimitTen(),
		largeLimitRefused(),
		cursorInclusive(),
		firstRowOfPageLost(),
		rowsDescend(),
		moreAtExactLimit(),
		moreFromLastTopic(),
		keyPackageQueried(),
		limitPerTopic(),
		coalesceAtHighest(),
		repeatedTopicTwice(),
		newestFullLimitLax(),
		newestListsAbsent(),
		newestMetadataCarriesEnvelope(),
		newestIsSecond(),
		newestLacksHash(),
		newestLosesFlag(),
		newestRepeats(),
		largePageCut(),
		streamsUnlimited(),
		limitPublishedHalved(),
		limitsUnpublished(),
		textMissing(),
		retiredGetMissing(),
		versionHeaderRefused(),
		configurationNeedsCredentials(),
		healthMissing(),
	}
}

// concurrent are the mutants that only show when calls meet, in the same order.
func concurrent() []Mutant {
	return []Mutant{
		idsBeforeLock(),
		noTopicLock(),
		idsCached(),
		noIdentityLock(),
		queriesShareARead(),
		conflictIsSuccess(),
		topicsCommittedApart(),
		racingCopyStoredAgain(),
		racingCopyRenumbered(),
		duplicatesCheckedOnce(),
		recheckInOldSnapshot(),
		watermarkReadApart(),
		watermarkBeforeLock(),
		commitLogDroppedWhenBusy(),
		moreInSecondQuery(),
		pageTopicByTopic(),
		newestInTwoQueries(),
	}
}

// Lookup finds a mutant by name.
func Lookup(name string) (Mutant, error) {
	var names []string
	for _, m := range All() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mutant{}, fmt.Errorf("there is no mutant %.60q: use one of %s", name, strings.Join(names, ", "))
}
