package backend

// serviceRulings are about calls as such (sections 11 to 13).
func serviceRulings() []ruling {
	control := func(h *story) {
		h.publish("A", group("one")).answered()
		h.query("A", 0, all(groupLog("g"))).answered()
	}
	headers := []string{"authorization", "x-app-version", "x-libxmtp-version"}
	return []ruling{
		holds(limitPublished, "API-135: every limit of the table is published", func(h *story) { h.ask(MethodConfiguration).answered() }),
		breaks(limitPublished, "API-135: a limit of the table is not published", func(h *story) {
			h.ask(MethodConfiguration).answered(func(r *Return) { r.Configuration.Limits["max_static_topics"] = 0 })
		}),
		breaks(limitPublished, "API-135: another value is published than was configured", func(h *story) {
			h.ask(MethodConfiguration).answered(func(r *Return) { r.Configuration.Limits[limitQueryTopics] = 1000 })
		}, configured(limitQueryTopics, 7)),
		holds(limitCeiling, "API-135: the byte limits keep their ceiling", func(h *story) { h.ask(MethodConfiguration).answered() }),
		breaks(limitCeiling, "API-135: the published request limit is above 25 MiB", func(h *story) {
			h.ask(MethodConfiguration).answered(func(r *Return) { r.Configuration.Limits[limitRequestBytes] = byteCeiling + 1 })
		}),
		holds(retiredMethod, "API-152: the retired read is UNIMPLEMENTED where a query is not", func(h *story) {
			control(h)
			h.other(RetiredGet).answered()
		}),
		breaks(retiredMethod, "API-152: the retired read is answered", func(h *story) { h.other(RetiredGet).answers(Return{}) }),
		holds(headersAccepted, "API-161: a query with the client's headers is answered", func(h *story) {
			h.headers = headers
			control(h)
		}),
		breaks(headersAccepted, "API-161: a publish with the client's headers is refused", func(h *story) {
			h.headers = headers
			h.publish("A", group("one")).answers(invalid(0, ReasonMalformedPayload))
		}),
		breaks(headersAccepted, "API-161: a query with the client's headers is UNAUTHENTICATED where one without is not", func(h *story) {
			control(h)
			h.headers = headers
			h.query("A", 0, all(groupLog("g"))).code(Unauthenticated)
		}),
		breaks(headersAccepted, "API-161: a query with the client's headers is UNIMPLEMENTED where one without is not", func(h *story) {
			control(h)
			h.headers = headers
			h.query("A", 0, all(groupLog("g"))).code(Unimplemented)
		}),
		holds(healthServed, "API-162: health is SERVING", func(h *story) { h.ask(MethodHealth).answered() }),
		breaks(healthServed, "API-162: there is no health service", func(h *story) { h.ask(MethodHealth).code(Unimplemented) }),
		breaks(healthServed, "API-162: health is an empty message", func(h *story) { h.ask(MethodHealth).answers(Return{}) }),
		breaks(healthServed, "API-162: health is NOT_SERVING while queries are served", func(h *story) {
			control(h)
			h.ask(MethodHealth).answers(Return{Serving: notServing})
		}),
		holds(streamBound, "API-132: a connection announces 100 streams", func(h *story) { h.ask(MethodSettings).answers(announces(100)) }),
		breaks(streamBound, "API-132: a direct connection announces 101 streams", func(h *story) {
			h.ask(MethodSettings).answers(announces(101))
		}, direct()),
		breaks(streamBound, "API-132: a direct connection announces no bound", func(h *story) {
			h.ask(MethodSettings).answers(Return{Settings: &Settings{}})
		}, direct()),
		holds(configServed, "API-162: the configuration is served", func(h *story) { h.ask(MethodConfiguration).answered() }),
		breaks(configServed, "API-162: the configuration is UNIMPLEMENTED", func(h *story) { h.ask(MethodConfiguration).code(Unimplemented) }),
		breaks(configServed, "API-162: the configuration asks for credentials", func(h *story) { h.ask(MethodConfiguration).code(Unauthenticated) }),
		breaks(configServed, "API-162: the configuration does not decode", func(h *story) {
			h.ask(MethodConfiguration).answers(Return{Garbled: "a configuration response that does not decode"})
		}),
	}
}

func announces(streams uint32) Return { return Return{Settings: &Settings{Streams: &streams}} }

func direct() func(*Terms) { return func(t *Terms) { t.Direct = true } }
