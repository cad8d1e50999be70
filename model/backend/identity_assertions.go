package backend

import (
	"assay/model"
	"assay/spec/gen/backendreq"
)

// The assertions about identity updates, key packages, lookups and verifications.
var (
	identityOrder    = asserted("identity-updates-ascend-in-real-time", backendreq.API014)
	dependentPublish = asserted("publish-is-validated-against-what-had-returned", backendreq.API017)
	staleDuplicate   = asserted("duplicate-of-what-no-longer-validates-succeeds", backendreq.API035)

	packageAccepted = asserted("sound-key-package-accepted", backendreq.API042)
	packageRefused  = asserted("flawed-key-package-refused", backendreq.API042)
	packageReason   = asserted("flawed-key-package-has-its-reason", backendreq.API042)

	updateAccepted   = asserted("identity-update-that-applies-accepted", backendreq.API043)
	partsRefused     = asserted("identity-update-with-a-part-missing-refused", backendreq.API043)
	signatureRefused = asserted("signature-that-does-not-verify-refused", backendreq.API043)
	strangerRefused  = asserted("signature-of-a-party-without-the-right-refused", backendreq.API043)
	replayRefused    = asserted("signature-used-before-refused", backendreq.API043)
	stateRefused     = asserted("identity-update-that-does-not-apply-refused", backendreq.API043)
	updateReason     = asserted("refused-identity-update-has-its-reason", backendreq.API043)

	walletAccepted = asserted("contract-signature-asked-of-its-chain", backendreq.API044)
	walletRefused  = asserted("contract-signature-without-a-yes-refused", backendreq.API044)
	chainFailure   = asserted("update-on-a-failing-chain-unavailable", backendreq.API044)
	walletCount    = asserted("too-many-contract-signatures-refused", backendreq.API044)
	walletCountOK  = asserted("contract-signatures-at-the-limit-accepted", backendreq.API044)

	oneUpdate    = asserted("two-updates-of-one-inbox-in-a-publish-refused", backendreq.API050)
	oneWinner    = asserted("conflicting-updates-have-one-winner", backendreq.API051)
	abortedRaces = asserted("aborted-only-beside-a-concurrent-commit", backendreq.API051)
	resendWorks  = asserted("aborted-update-applies-when-sent-again", backendreq.API051)
	severalInbox = asserted("identifier-in-several-inboxes-leads-to-the-latest", backendreq.API053)

	packageKept   = asserted("every-key-package-is-kept", backendreq.API060)
	packageNewest = asserted("newest-key-package-is-the-highest", backendreq.API061)

	lookupCount    = asserted("lookup-above-its-limit-refused", backendreq.API120)
	lookupCountOK  = asserted("lookup-at-its-limit-accepted", backendreq.API120)
	lookupEcho     = asserted("lookup-answers-every-entry-as-sent", backendreq.API121)
	lookupAbsent   = asserted("identifier-of-no-inbox-has-none", backendreq.API121)
	lookupLatest   = asserted("identifier-leads-to-its-inbox", backendreq.API122)
	lookupReveals  = asserted("revocation-reveals-the-association-before", backendreq.API122)
	lookupSpelling = asserted("lookup-takes-any-letter-case", backendreq.API122)
	lookupKind     = asserted("lookup-keeps-kinds-apart", backendreq.API122)

	verifyEach    = asserted("verification-answers-every-signature-in-order", backendreq.API123)
	verifyFailure = asserted("verification-on-a-failing-chain-unavailable", backendreq.API123)
	verifyCount   = asserted("verification-above-its-limit-refused", backendreq.API123)
	verifyCountOK = asserted("verification-at-its-limit-accepted", backendreq.API123)

	logFull   = asserted("identity-update-beyond-a-full-log-refused", backendreq.API148)
	logFullOK = asserted("identity-update-up-to-a-full-log-accepted", backendreq.API148)
	fullRetry = asserted("stored-update-of-a-full-log-repeated", backendreq.API148)
)

// identityAssertions lists the assertions of this file in their order.
func identityAssertions() []model.Assertion {
	return []model.Assertion{
		identityOrder, dependentPublish, staleDuplicate, packageAccepted, packageRefused, packageReason,
		updateAccepted, partsRefused, signatureRefused, strangerRefused, replayRefused, stateRefused, updateReason,
		walletAccepted, walletRefused, chainFailure, walletCount, walletCountOK,
		oneUpdate, oneWinner, abortedRaces, resendWorks, severalInbox, packageKept, packageNewest,
		lookupCount, lookupCountOK, lookupEcho, lookupAbsent, lookupLatest, lookupReveals, lookupSpelling, lookupKind,
		verifyEach, verifyFailure, verifyCount, verifyCountOK, logFull, logFullOK, fullRetry,
	}
}
