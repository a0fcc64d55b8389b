/* A partition of ARINC 653 in C: a periodic process samples the attitude and hands it on through a buffer, and an aperiodic one
 * counts what comes. What else it asks for has an answer that the standard gives. */
#include <apex.h>

#define MESSAGES 40

static SAMPLING_PORT_ID_TYPE attitude, elevator;
static BUFFER_ID_TYPE samples;
static BLACKBOARD_ID_TYPE empty;
static unsigned asked, wrong;

static void expect(RETURN_CODE_TYPE code, RETURN_CODE_TYPE expected)
{
    asked += 1;
    wrong += code != expected;
}

static void say(const char *text, unsigned number)
{
    char line[MAX_ERROR_MESSAGE_SIZE];
    char digits[10];
    MESSAGE_SIZE_TYPE length = 0;
    int count = 0;
    RETURN_CODE_TYPE code;

    while (*text)
        line[length++] = *text++;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        line[length++] = digits[--count];
    REPORT_APPLICATION_MESSAGE((MESSAGE_ADDR_TYPE)line, length, &code);
}

static void control(void)
{
    APEX_BYTE message[64];
    MESSAGE_SIZE_TYPE length;
    VALIDITY_TYPE validity;
    RETURN_CODE_TYPE code;

    for (;;) {
        READ_SAMPLING_MESSAGE(attitude, message, &length, &validity, &code);
        if (code == NO_ERROR && validity == VALID) {
            WRITE_SAMPLING_MESSAGE(elevator, message, length, &code);
            expect(code, NO_ERROR);
            SEND_BUFFER(samples, message, length, 0, &code);
            expect(code, NO_ERROR);
        }
        PERIODIC_WAIT(&code);
    }
}

static void logger(void)
{
    APEX_BYTE message[64];
    MESSAGE_SIZE_TYPE length;
    PROCESS_ATTRIBUTE_TYPE late = { .PERIOD = INFINITE_TIME_VALUE, .NAME = "late" };
    PROCESS_STATUS_TYPE status;
    PROCESS_ID_TYPE id;
    SAMPLING_PORT_STATUS_TYPE port;
    BUFFER_STATUS_TYPE buffer;
    SYSTEM_TIME_TYPE before, now;
    RETURN_CODE_TYPE code;
    unsigned count;

    GET_TIME(&before, &code);
    for (count = 0; count < MESSAGES; count++) {
        RECEIVE_BUFFER(samples, INFINITE_TIME_VALUE, message, &length, &code);
        expect(code, NO_ERROR);
    }
    GET_TIME(&now, &code);
    expect(now > before ? NO_ERROR : INVALID_PARAM, NO_ERROR);

    /* A message that does not come has the length 0. */
    RECEIVE_BUFFER(samples, 0, message, &length, &code);
    expect(code, NOT_AVAILABLE);
    expect(length == 0 ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    length = 64;
    READ_BLACKBOARD(empty, 0, message, &length, &code);
    expect(code, NOT_AVAILABLE);
    expect(length == 0 ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    length = 64;
    READ_BLACKBOARD(empty, 5000000, message, &length, &code);
    expect(code, TIMED_OUT);
    expect(length == 0 ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    TIMED_WAIT(0, &code);
    expect(code, NO_ERROR);
    PERIODIC_WAIT(&code);
    expect(code, INVALID_MODE);

    /* The partition runs: nothing is created any more. */
    late.ENTRY_POINT = logger;
    CREATE_PROCESS(&late, &id, &code);
    expect(code, INVALID_MODE);
    GET_PROCESS_ID("nobody", &id, &code);
    expect(code, INVALID_CONFIG);
    GET_PROCESS_ID("control", &id, &code);
    expect(code, NO_ERROR);
    GET_PROCESS_STATUS(id, &status, &code);
    expect(code, NO_ERROR);
    expect(status.ATTRIBUTES.BASE_PRIORITY == 2 && status.ATTRIBUTES.PERIOD == 10000000 ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    expect(status.ATTRIBUTES.ENTRY_POINT == (void *)control && status.ATTRIBUTES.NAME[6] == 'l' ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    START(id, &code);
    expect(code, NO_ACTION);
    GET_SAMPLING_PORT_STATUS(attitude, &port, &code);
    expect(code, NO_ERROR);
    expect(port.MAX_MESSAGE_SIZE == 64 && port.PORT_DIRECTION == DESTINATION ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    WRITE_SAMPLING_MESSAGE(attitude, message, 8, &code);
    expect(code, INVALID_MODE);
    WRITE_SAMPLING_MESSAGE(elevator, message, 0, &code);
    expect(code, INVALID_PARAM);
    GET_BUFFER_STATUS(samples, &buffer, &code);
    expect(code, NO_ERROR);
    expect(buffer.MAX_NB_MESSAGE == 4 ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    RAISE_APPLICATION_ERROR(POWER_FAIL, message, 8, &code);
    expect(code, INVALID_PARAM);
    SET_PARTITION_MODE(17, &code);
    expect(code, INVALID_PARAM);

    say("messages ", count);
    say("answers ", asked);
    say("wrong ", wrong);
    STOP_SELF();
}

static void process(const char *name, void (*entry)(void), SYSTEM_TIME_TYPE period, PRIORITY_TYPE priority)
{
    PROCESS_ATTRIBUTE_TYPE it = { .PERIOD = period, .TIME_CAPACITY = INFINITE_TIME_VALUE, .STACK_SIZE = 4096, .DEADLINE = SOFT };
    PROCESS_ID_TYPE id;
    RETURN_CODE_TYPE code;
    int place;

    it.ENTRY_POINT = entry;
    it.BASE_PRIORITY = priority;
    for (place = 0; name[place]; place++)
        it.NAME[place] = name[place];
    CREATE_PROCESS(&it, &id, &code);
    expect(code, NO_ERROR);
    START(id, &code);
    expect(code, NO_ERROR);
}

int main(void)
{
    PARTITION_STATUS_TYPE status;
    RETURN_CODE_TYPE code;

    GET_PARTITION_STATUS(&status, &code);
    expect(code, NO_ERROR);
    expect(status.OPERATING_MODE == COLD_START && status.NUM_ASSIGNED_CORES == 1 ? NO_ERROR : INVALID_PARAM, NO_ERROR);
    CREATE_SAMPLING_PORT("attitude", 64, 7, 25000000, &attitude, &code);
    expect(code, INVALID_PARAM);
    CREATE_SAMPLING_PORT("attitude", 64, DESTINATION, 25000000, &attitude, &code);
    expect(code, NO_ERROR);
    CREATE_SAMPLING_PORT("elevator", 64, SOURCE, 25000000, &elevator, &code);
    expect(code, NO_ERROR);
    CREATE_BUFFER("samples", 64, 4, FIFO, &samples, &code);
    expect(code, NO_ERROR);
    CREATE_BLACKBOARD("empty", 64, &empty, &code);
    expect(code, NO_ERROR);
    TIMED_WAIT(0, &code);
    expect(code, INVALID_MODE);
    process("control", control, 10000000, 2);
    process("logger", logger, INFINITE_TIME_VALUE, 1);
    SET_PARTITION_MODE(NORMAL, &code);
    return (int)code;
}
