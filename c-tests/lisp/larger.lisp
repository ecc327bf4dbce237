;;; A program of several parts, as programs are: an algebra system, a library with classes, a text index, queens on a
;;; board, a queue, a small language with conditions and restarts, matrices, threads, garbage. It prints what it finds.

(defpackage :larger (:use :cl) (:export #:run))
(in-package :larger)

;;; Algebra: derivatives and simplification of formulas.

(defun simplify-sum (a b)
  (cond ((and (numberp a) (numberp b)) (+ a b))
        ((eql a 0) b)
        ((eql b 0) a)
        (t (list '+ a b))))

(defun simplify-product (a b)
  (cond ((and (numberp a) (numberp b)) (* a b))
        ((or (eql a 0) (eql b 0)) 0)
        ((eql a 1) b)
        ((eql b 1) a)
        (t (list '* a b))))

(defun derive (formula variable)
  (cond ((numberp formula) 0)
        ((symbolp formula) (if (eq formula variable) 1 0))
        (t (destructuring-bind (operator a b) formula
             (ecase operator
               (+ (simplify-sum (derive a variable) (derive b variable)))
               (* (simplify-sum (simplify-product (derive a variable) b)
                                (simplify-product a (derive b variable)))))))))

(defun power-formula (n) (if (= n 1) 'x (list '* 'x (power-formula (1- n)))))

(defun evaluate (formula bindings)
  (cond ((numberp formula) formula)
        ((symbolp formula) (cdr (assoc formula bindings)))
        (t (apply (first formula) (mapcar (lambda (part) (evaluate part bindings)) (rest formula))))))

;;; A library: classes, generic functions, method combination.

(defclass item ()
  ((title :initarg :title :reader title)
   (copies :initarg :copies :initform 1 :accessor copies)
   (history :initform '() :accessor history)))
(defclass book (item) ((author :initarg :author :reader author)))
(defclass record (item) ((minutes :initarg :minutes :reader minutes)))

(define-condition out-of-copies (error)
  ((item :initarg :item :reader item-of))
  (:report (lambda (condition stream) (format stream "no copy of ~a is left" (title (item-of condition))))))

(defgeneric lend (item reader))
(defgeneric describe-item (item))
(defmethod lend ((item item) reader)
  (when (zerop (copies item))
    (restart-case (error 'out-of-copies :item item)
      (buy (number) (incf (copies item) number))))
  (decf (copies item))
  (push reader (history item))
  (length (history item)))
(defmethod lend :before ((item record) reader) (push (list :careful reader) (history item)))
(defmethod describe-item ((item item)) (format nil "~a (~d)" (title item) (copies item)))
(defmethod describe-item ((book book)) (concatenate 'string (author book) ": " (call-next-method)))
(defmethod describe-item ((record record)) (format nil "~a, ~,1f hours" (call-next-method) (/ (minutes record) 60.0)))

(defun library ()
  (let ((items (list (make-instance 'book :title "Structure and Interpretation" :author "Abelson" :copies 2)
                     (make-instance 'record :title "Goldberg" :minutes 51)
                     (make-instance 'book :title "Lisp in Small Pieces" :author "Queinnec"))))
    (handler-bind ((out-of-copies (lambda (condition) (declare (ignore condition)) (invoke-restart 'buy 3))))
      (dotimes (i 12) (dolist (item items) (lend item (format nil "reader ~r" i)))))
    (format t "~{~a~^; ~}~%" (mapcar #'describe-item items))
    (reduce #'+ items :key (lambda (item) (length (history item))))))

;;; An index of words: strings and hash tables.

(defun words (text)
  (loop with start = 0
        for end = (position #\Space text :start start)
        collect (subseq text start end)
        while end do (setf start (1+ end))))

(defun index-words (text)
  (let ((table (make-hash-table :test #'equal)))
    (loop for word in (words text) for place from 0
          do (push place (gethash (string-downcase word) table '())))
    table))

(defun text (n)
  (with-output-to-string (out)
    (dotimes (i n) (format out "~:[~;Even ~]~r " (evenp i) (mod (* i 7919) 101)))))

(defun most-frequent (table)
  (let ((pairs '()))
    (maphash (lambda (word places) (push (cons (length places) word) pairs)) table)
    (sort pairs (lambda (a b) (or (> (car a) (car b)) (and (= (car a) (car b)) (string< (cdr a) (cdr b))))))))

;;; Queens: recursion.

(defun queens (size)
  (labels ((place (row columns)
             (if (= row size)
                 1
                 (loop for column below size
                       unless (loop for other in columns for distance from 1
                                    thereis (or (= other column) (= (abs (- other column)) distance)))
                         sum (place (1+ row) (cons column columns))))))
    (place 0 '())))

;;; A priority queue in an adjustable vector of structures.

(defstruct job priority name)
(defun enqueue (queue job)
  (vector-push-extend job queue)
  (loop with i = (1- (fill-pointer queue))
        for parent = (floor (1- i) 2)
        while (and (plusp i) (< (job-priority (aref queue i)) (job-priority (aref queue parent))))
        do (rotatef (aref queue i) (aref queue parent))
           (setf i parent)))
(defun least (queue) (job-name (aref queue 0)))
(defun jobs (n)
  (let ((queue (make-array 4 :adjustable t :fill-pointer 0)))
    (dotimes (i n (least queue))
      (enqueue queue (make-job :priority (mod (+ 37 (* i 7919)) 1009) :name (intern (format nil "JOB-~d" i)))))))

;;; A small language: conditions, catch, unwinding.

(define-condition stack-underflow (error) ())
(defvar *unwound* 0)
(defun run-code (code)
  (let ((stack '()))
    (flet ((take () (if stack (pop stack) (error 'stack-underflow))))
      (unwind-protect
           (catch 'halt
             (dolist (word code (first stack))
               (case word
                 (add (push (+ (take) (take)) stack))
                 (multiply (push (* (take) (take)) stack))
                 (halt (throw 'halt (list :halted stack)))
                 (t (push word stack)))))
        (incf *unwound*)))))
(defun safely (code)
  (handler-case (run-code code)
    (stack-underflow () :underflow)
    (type-error (condition) (list :not-a-number (type-error-datum condition)))))

;;; Matrices of double floats.

(defun matrix-product (a b n)
  (let ((c (make-array (list n n) :element-type 'double-float :initial-element 0d0)))
    (dotimes (i n c)
      (dotimes (j n)
        (dotimes (k n) (incf (aref c i j) (* (aref a i k) (aref b k j))))))))
(defun matrix (n)
  (let ((m (make-array (list n n) :element-type 'double-float)))
    (dotimes (i n m) (dotimes (j n) (setf (aref m i j) (/ (float (1+ (mod (+ i (* 3 j)) 7)) 1d0) 4))))))

;;; Threads, and garbage enough for the collector to stop them.

(defun garbage (n)
  (let ((kept '()))
    (dotimes (i n (length kept))
      (let ((list (make-list 50 :initial-element i)))
        (when (zerop (mod i 100)) (push list kept))))))
(defun threads (n)
  (let ((threads (loop for i below n
                       collect (let ((i i))
                                 (mp:process-run-function 'worker (lambda () (garbage (* 1000 (1+ i)))))))))
    (reduce #'+ (mapcar #'mp:process-join threads))))

(defun run ()
  (let ((formula (power-formula 12)))
    (format t "derivative at 2: ~d~%" (evaluate (derive formula 'x) '((x . 2)))))
  (format t "lent: ~d~%" (library))
  (format t "words: ~{~a~^ ~}~%" (subseq (most-frequent (index-words (text 400))) 0 5))
  (format t "queens: ~d~%" (queens 6))
  (format t "first job: ~a~%" (jobs 200))
  (format t "code: ~{~a~^ ~}~%"
          (mapcar #'safely '((1 2 add 3 multiply) (1 add) (1 2 halt 3) (1 a add) (2 3 multiply 4 add))))
  (format t "unwound: ~d~%" *unwound*)
  (let ((m (matrix 12))) (format t "matrix: ~f~%" (aref (matrix-product m m 12) 3 4)))
  (format t "factorial: ~d~%" (integer-length (reduce #'* (loop for i from 1 to 100 collect i))))
  (format t "threads: ~d~%" (threads 4))
  (ext:gc t)
  (format t "written and read: ~a~%" (equal (read-from-string (prin1-to-string '(a (b "c" 1.5d0) #\d)))
                                            '(a (b "c" 1.5d0) #\d))))

(run)
