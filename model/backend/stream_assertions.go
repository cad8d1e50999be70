package backend

import (
	"assay/model"
	"assay/spec/gen/backendreq"
)

// The assertions of subscriptions, in the order of sections 8 and 9. What their
// rows and targets show beside other calls is judged on histories of concurrent
// calls, with assertions of its own.
var (
	startedFirst   = asserted("subscription-begins-with-started", backendreq.API090)
	updateOrder    = asserted("updates-are-taken-in-order", backendreq.API091)
	updateWhole    = asserted("update-adds-and-removes-at-once", backendreq.API091)
	updateDistinct = asserted("update-that-repeats-a-topic-refused", backendreq.API091)
	rowAsked       = asserted("subscription-delivers-what-was-added", backendreq.API091)
	updateBounds   = asserted("update-above-a-limit-refused", backendreq.API092)
	streamTopics   = asserted("topics-above-the-stream-limit-refused", backendreq.API092)
	updateAtLimit  = asserted("update-at-a-limit-accepted", backendreq.API092)
	idsRise        = asserted("update-id-that-does-not-rise-refused", backendreq.API093)
	idsFree        = asserted("rising-update-ids-accepted", backendreq.API093)
	applied        = asserted("update-is-acknowledged-once-with-its-targets", backendreq.API094)
	rowsOrFailure  = asserted("subscription-delivers-or-fails", backendreq.API096)
	pongEchoes     = asserted("ping-is-answered-with-its-nonce", backendreq.API099)
	noOpAdd        = asserted("adding-an-active-topic-changes-nothing", backendreq.API100)
	noOpRemove     = asserted("removing-an-absent-topic-changes-nothing", backendreq.API100)
	newGeneration  = asserted("topic-added-again-has-a-new-registration", backendreq.API100)
	noQuota        = asserted("subscriptions-have-no-quota", backendreq.API101)
	emptyStays     = asserted("subscription-without-topics-stays-open", backendreq.API104)
	emptyFrame     = asserted("frame-without-alternative-refused", backendreq.API106)
	bucketHolds    = asserted("frames-keep-to-their-bucket", backendreq.API107)
	bucketServes   = asserted("frames-within-their-bucket-accepted", backendreq.API107)
	pongIsFree     = asserted("pong-takes-no-token", backendreq.API107)
	bucketCode     = asserted("exhausted-bucket-has-its-code", backendreq.API130)
	boundCode      = asserted("limit-of-a-subscription-has-its-code", backendreq.API130)
	halfClose      = asserted("half-close-ends-the-session", backendreq.API108)
	staticBounds   = asserted("static-subscription-out-of-bounds-refused", backendreq.API110)
	staticDistinct = asserted("static-subscription-that-repeats-a-topic-refused", backendreq.API110)
	staticAtLimit  = asserted("static-subscription-at-its-limit-accepted", backendreq.API110)
	staticStarted  = asserted("static-subscription-begins-with-its-targets", backendreq.API111)
	staticStays    = asserted("static-subscription-stays-open", backendreq.API112)
	staticRows     = asserted("static-subscription-delivers-what-was-asked", backendreq.API112)
	keepalive      = asserted("idle-static-subscription-shows-keepalives", backendreq.API113)
	bareFrames     = asserted("frames-are-the-messages-of-the-package", backendreq.API164)
)

func streamAssertions() []model.Assertion {
	return []model.Assertion{
		startedFirst, updateOrder, updateWhole, updateDistinct, rowAsked, updateBounds, streamTopics, updateAtLimit, idsRise, idsFree, applied,
		rowsOrFailure, pongEchoes, noOpAdd, noOpRemove, newGeneration, noQuota, emptyStays, emptyFrame, bucketHolds, bucketServes, pongIsFree,
		bucketCode, boundCode, halfClose, staticBounds, staticDistinct, staticAtLimit, staticStarted, staticStays, staticRows, keepalive, bareFrames,
	}
}
