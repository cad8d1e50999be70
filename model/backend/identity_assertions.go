package backend

import (
	"assay/model"
	"assay/spec"
	"assay/spec/gen/backendreq"
)

// The assertions about identity updates, key packages, lookups and verifications.
var (
	identityOrder    = planned("identity-updates-ascend-in-real-time", backendreq.API014)
	dependentPublish = planned("publish-is-validated-against-what-had-returned", backendreq.API017)
	staleDuplicate   = planned("duplicate-of-what-no-longer-validates-succeeds", backendreq.API035)

	packageAccepted = planned("sound-key-package-accepted", backendreq.API042)
	packageRefused  = planned("flawed-key-package-refused", backendreq.API042)
	packageReason   = planned("flawed-key-package-has-its-reason", backendreq.API042)

	updateAccepted   = planned("identity-update-that-applies-accepted", backendreq.API043)
	partsRefused     = planned("identity-update-with-a-part-missing-refused", backendreq.API043)
	signatureRefused = planned("signature-that-does-not-verify-refused", backendreq.API043)
	strangerRefused  = planned("signature-of-a-party-without-the-right-refused", backendreq.API043)
	replayRefused    = planned("signature-used-before-refused", backendreq.API043)
	stateRefused     = planned("identity-update-that-does-not-apply-refused", backendreq.API043)
	updateReason     = planned("refused-identity-update-has-its-reason", backendreq.API043)

	walletAccepted = planned("contract-signature-asked-of-its-chain", backendreq.API044)
	walletRefused  = planned("contract-signature-without-a-yes-refused", backendreq.API044)
	chainFailure   = planned("update-on-a-failing-chain-unavailable", backendreq.API044)
	walletCount    = planned("too-many-contract-signatures-refused", backendreq.API044)
	walletCountOK  = planned("contract-signatures-at-the-limit-accepted", backendreq.API044)

	oneUpdate    = planned("two-updates-of-one-inbox-in-a-publish-refused", backendreq.API050)
	oneWinner    = planned("conflicting-updates-have-one-winner", backendreq.API051)
	abortedRaces = planned("aborted-only-beside-a-concurrent-commit", backendreq.API051)
	resendWorks  = planned("aborted-update-applies-when-sent-again", backendreq.API051)
	severalInbox = planned("identifier-in-several-inboxes-leads-to-the-latest", backendreq.API053)

	packageKept   = planned("every-key-package-is-kept", backendreq.API060)
	packageNewest = planned("newest-key-package-is-the-highest", backendreq.API061)

	lookupCount    = planned("lookup-above-its-limit-refused", backendreq.API120)
	lookupCountOK  = planned("lookup-at-its-limit-accepted", backendreq.API120)
	lookupEcho     = planned("lookup-answers-every-entry-as-sent", backendreq.API121)
	lookupAbsent   = planned("identifier-of-no-inbox-has-none", backendreq.API121)
	lookupLatest   = planned("identifier-leads-to-its-inbox", backendreq.API122)
	lookupReveals  = planned("revocation-reveals-the-association-before", backendreq.API122)
	lookupSpelling = planned("lookup-takes-any-letter-case", backendreq.API122)
	lookupKind     = planned("lookup-keeps-kinds-apart", backendreq.API122)

	verifyEach    = planned("verification-answers-every-signature-in-order", backendreq.API123)
	verifyFailure = planned("verification-on-a-failing-chain-unavailable", backendreq.API123)
	verifyCount   = planned("verification-above-its-limit-refused", backendreq.API123)
	verifyCountOK = planned("verification-at-its-limit-accepted", backendreq.API123)

	logFull   = planned("identity-update-beyond-a-full-log-refused", backendreq.API148)
	logFullOK = planned("identity-update-up-to-a-full-log-accepted", backendreq.API148)
	fullRetry = planned("stored-update-of-a-full-log-repeated", backendreq.API148)
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

// planned declares an assertion that no rule evaluates yet, so that the list of
// those that Judge can evaluate stays true.
func planned(name string, id spec.ID) model.Assertion {
	return model.Assertion{Name: name, Requirement: id, Basis: model.Spec}
}
